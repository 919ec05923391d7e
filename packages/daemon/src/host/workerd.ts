import { accessSync, constants } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fail } from "@thinkery/sdk";
import { controlFd, startChild, type Child } from "./process.ts";

const packages: Record<string, string> = {
  "darwin arm64": "@cloudflare/workerd-darwin-arm64",
  "darwin x64": "@cloudflare/workerd-darwin-64",
  "linux arm64": "@cloudflare/workerd-linux-arm64",
  "linux x64": "@cloudflare/workerd-linux-64",
};

/** Returns the path of the workerd binary for this machine. */
export function findWorkerdBinary(platform = process.platform as string, arch = process.arch as string): string {
  const name = packages[`${platform} ${arch}`];
  if (!name)
    throw fail("unavailable", `Thinkery does not run on ${platform} ${arch}: there is no workerd binary for it.`);
  try {
    // Resolved from the workerd package, because package managers put the binary's package beside or below it.
    const require = createRequire(createRequire(import.meta.url).resolve("workerd/package.json"));
    const path = require.resolve(`${name}/bin/workerd`);
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    throw fail(
      "unavailable",
      `The workerd binary (${name}) is missing or not executable. Run npm install and try again.`,
    );
  }
}

/** Writes the configuration and removes a leftover socket file. */
export async function prepareWorkerd(configFile: string, config: string, socket: string): Promise<void> {
  // workerd does not bind over a socket file that its predecessor left.
  await rm(socket, { force: true });
  await writeFile(configFile, config, { mode: 0o600 });
}

interface WorkerdOptions {
  configFile: string;
  env?: Record<string, string>;
  lockFd: number | undefined;
  onLine(line: string): void;
}

export function startWorkerd({ configFile, env = {}, lockFd, onLine }: WorkerdOptions): Child {
  const [command, ...args] = toServeCommand(configFile);
  return startChild({ command, args, env, lockFd, onLine });
}

/** Returns the command that serves a configuration and reports on `controlFd` when it listens. */
export function toServeCommand(configFile: string, { experimental = false } = {}): [string, ...string[]] {
  // Without the import path, absolute paths in the config are not looked up on disk.
  const args = ["serve", configFile, "--import-path=/", `--control-fd=${controlFd}`];
  return [findWorkerdBinary(), ...args, ...(experimental ? ["--experimental"] : [])];
}

import { spawn } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that goes when it is no longer needed, also when this process dies without a word. */
export interface TempFolder {
  path: string;
  remove(): Promise<void>;
}

// The host's sockets lie inside, and the kernel takes no long paths for those; macOS has long ones for its own.
const maxNameChars = 40;

// Its standard input is a pipe that only we hold: when that ends, so have we. What the host still does there takes a moment.
const removeScript =
  'read _; tries=0; while [ -e "$0" ] && [ $tries -lt 100 ]; do sleep 0.1; rm -rf "$0"; tries=$((tries + 1)); done';

export async function createTempFolder(): Promise<TempFolder> {
  const place = tmpdir().length <= maxNameChars ? tmpdir() : "/tmp";
  const path = await mkdtemp(join(place, "thinkery-test-"));
  const beside = spawn("/bin/sh", ["-c", removeScript, path], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  beside.on("error", () => {});
  beside.stdin.on("error", () => {});
  beside.unref();
  // A test that forgets its host still comes to an end.
  (beside.stdin as unknown as { unref(): void }).unref();
  return {
    path,
    async remove() {
      beside.kill("SIGKILL");
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Lays out a home: configuration and scripts by name. */
export async function writeHome(
  home: string,
  config: object | undefined,
  scripts: Readonly<Record<string, unknown>>,
): Promise<void> {
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  if (config) await writeFile(join(home, "config.jsonc"), JSON.stringify(config));
  for (const [name, script] of Object.entries(scripts)) {
    const file = join(home, "scripts", `${name}.yaml`);
    if (script instanceof URL) await copyFile(script, file);
    // JSON is YAML.
    else await writeFile(file, JSON.stringify(script));
  }
}

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, createClient } from "@thinkery/sdk/client";
import { waitForExit } from "./processes.ts";
import { waitUntil } from "./wait-until.ts";

export const cliPath = fileURLToPath(new URL("../../packages/daemon/dist/thinkery.js", import.meta.url));

export interface CliResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface HostProcess {
  home: string;
  url: string;
  port: number;
  token: string;
  client: Client;
  daemon: ChildProcess;
  /** The daemon's output so far. */
  readOutput(): string;
  /** Runs the CLI against this host. */
  runCli(args: string[], options?: RunOptions): Promise<CliResult>;
  stop(): Promise<void>;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  input?: string;
  /** Path of another build's CLI. */
  program?: string;
  /** Runs as this uid, if the tests run as root. */
  user?: number | undefined;
}

/** Returns a path for a data folder, in a new temporary folder. The data folder itself does not exist yet. */
export async function createHomePath(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), "thinkery-")), "home");
}

export async function removeHome(home: string): Promise<void> {
  await rm(dirname(home), { recursive: true, force: true });
}

/** Starts a real host with its own data folder, as `npm start` would. */
export async function startHostProcess(
  options: { home?: string; args?: string[]; env?: Record<string, string>; program?: string } = {},
): Promise<HostProcess> {
  const home = options.home ?? (await createHomePath());
  const env = createEnvironment(home, options.env);
  // Any free port, so that concurrent hosts do not compete for one.
  const args = options.args ?? ["--port", "0"];
  const daemon = spawn(process.execPath, [options.program ?? cliPath, "start", "--foreground", ...args], {
    env,
    cwd: dirname(home),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [daemon.stdout, daemon.stderr]) stream.on("data", (chunk) => (output += chunk));
  const started = await waitUntil("the host to start", async () => {
    if (daemon.exitCode !== null) return { port: 0 };
    const file = JSON.parse(await readFile(join(home, "daemon.json"), "utf8")) as { port: number; pid: number };
    return file.pid === daemon.pid ? file : undefined;
  });
  if (daemon.exitCode !== null) throw new Error(`the host exited with ${daemon.exitCode}: ${output}`);
  const { port } = started;
  const token = (await readFile(join(home, "token"), "utf8")).trim();
  const url = `http://127.0.0.1:${port}`;
  return {
    home,
    url,
    port,
    token,
    client: createClient({ url, token }),
    daemon,
    readOutput: () => output,
    runCli: (args, options) => runCli(args, home, options),
    async stop() {
      daemon.kill("SIGTERM");
      await waitForExit(daemon);
      if (!options.home) await removeHome(home);
    },
  };
}

export function runCli(args: string[], home: string, options: RunOptions = {}): Promise<CliResult> {
  const { cwd = dirname(home), env, input, program = cliPath, user } = options;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { env: createEnvironment(home, env), cwd, uid: user, timeout: 60_000, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error ? (typeof error.code === "number" ? error.code : -1) : 0;
        resolve({ code, stdout, stderr });
      },
    );
    child.stdin?.end(input ?? "");
  });
}

/** Passes on only PATH of the developer's environment. */
function createEnvironment(home: string, extra: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: dirname(home), THINKERY_HOME: home, NO_COLOR: "1", ...extra };
}

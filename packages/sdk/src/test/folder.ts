import { spawn } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that is deleted when it is no longer needed, even if this process is killed. */
export interface TempFolder {
  path: string;
  remove(): Promise<void>;
}

// The folder holds the host's sockets, and the kernel limits the length of their paths. macOS has long temporary paths.
const maxParentChars = 40;

// Waits for its standard input to end: only this process holds the other end of the pipe, so it is gone then. Tries
// repeatedly because the host may still be writing for a moment.
const removeScript =
  'read _; tries=0; while [ -e "$0" ] && [ $tries -lt 100 ]; do sleep 0.1; rm -rf "$0"; tries=$((tries + 1)); done';

export async function createTempFolder(): Promise<TempFolder> {
  const parent = tmpdir().length <= maxParentChars ? tmpdir() : "/tmp";
  const path = await mkdtemp(join(parent, "thinkery-test-"));
  const cleaner = spawn("/bin/sh", ["-c", removeScript, path], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  cleaner.on("error", () => {});
  cleaner.stdin.on("error", () => {});
  cleaner.unref();
  // A test that forgets to stop its host can still exit.
  (cleaner.stdin as unknown as { unref(): void }).unref();
  return {
    path,
    async remove() {
      cleaner.kill("SIGKILL");
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Creates the data folder of a host with its configuration and its scripts, by name. */
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

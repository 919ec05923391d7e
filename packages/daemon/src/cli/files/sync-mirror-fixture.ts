import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createTempFolder } from "../../host/fixture.ts";
import { FakeRemote } from "./sync-fixture.ts";
import { Mirror } from "./sync-mirror.ts";
import type { SyncEvent } from "./sync-pass.ts";
import type { SyncState } from "./sync-state.ts";

export function writeFiles(folder: string, files: Record<string, string | undefined>): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    if (text === undefined) rmSync(file);
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
}

export function readTexts(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    paths
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file): [string, string] => [file.slice(folder.length + 1), readFileSync(file, "utf8")])
      .sort(),
  );
}

/** A folder with a mirror that can be restarted with its saved state. */
export function openMirror({
  folder = createTempFolder(),
  remote = new FakeRemote(),
  settleMs = 0,
  retryDelayMs = 60_000,
  maxBytes = 1024 * 1024,
} = {}) {
  const events: SyncEvent[] = [];
  let state: SyncState | undefined;
  const start = () =>
    new Mirror({
      folder,
      remote,
      state,
      settleMs,
      retryDelayMs,
      maxBytes,
      onEvent: (event) => events.push(event),
      onState: async (next) => void (state = structuredClone(next)),
    });
  let mirror = start();
  let isFirst = true;
  const pass = async (options: { force?: boolean; signal?: AbortSignal } = {}) => {
    const result = await mirror.runPass({ ...options, isFirst });
    isFirst = false;
    return result;
  };
  /** Runs passes until both sides are in sync; returns the number of unsynced files. */
  const settle = async (options: { force?: boolean } = {}) => {
    for (let round = 0; round < 50; round++) {
      const { isComplete, unsynced } = await pass(options);
      if (isComplete) return unsynced;
    }
    throw new Error("the sync did not settle");
  };
  const restart = () => {
    mirror = start();
    isFirst = true;
  };
  return { folder, remote, events, pass, settle, restart, forget: () => (state = undefined) };
}

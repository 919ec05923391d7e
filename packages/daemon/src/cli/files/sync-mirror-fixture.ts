import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createTempFolder } from "../../host/fixture.ts";
import { FakeRemote } from "./sync-fixture.ts";
import { Mirror } from "./sync-mirror.ts";
import type { SyncEvent } from "./sync-pass.ts";
import type { SyncState } from "./sync-state.ts";

export function writeFiles(folder: string, files: Record<string, string | undefined>): void {
  for (const [path, text] of Object.entries(files)) {
    const place = join(folder, path);
    if (text === undefined) rmSync(place);
    else {
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, text);
    }
  }
}

export function readTexts(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Object.fromEntries(
    paths
      .map((one) => join(one.parentPath, one.name))
      .map((place): [string, string] => [place.slice(folder.length + 1), readFileSync(place, "utf8")])
      .sort(),
  );
}

/** A folder with its mirror, which may be begun again with what it remembers. */
export function openMirror({
  folder = createTempFolder(),
  remote = new FakeRemote(),
  restMs = 0,
  holdMs = 60_000,
  largest = 1024 * 1024,
} = {}) {
  const events: SyncEvent[] = [];
  let state: SyncState | undefined;
  const start = () =>
    new Mirror({
      folder,
      remote,
      state,
      restMs,
      holdMs,
      largest,
      onEvent: (event) => events.push(event),
      onState: async (next) => void (state = structuredClone(next)),
    });
  let mirror = start();
  let isFirst = true;
  const pass = async (options: { isSure?: boolean; signal?: AbortSignal } = {}) => {
    const result = await mirror.runPass({ ...options, isFirst });
    isFirst = false;
    return result;
  };
  /** Until both sides have the same. */
  const settle = async (options: { isSure?: boolean } = {}) => {
    for (let round = 0; round < 50; round++) {
      const { isComplete, left } = await pass(options);
      if (isComplete) return left;
    }
    throw new Error("it never came to rest");
  };
  const restart = () => {
    mirror = start();
    isFirst = true;
  };
  return { folder, remote, events, pass, settle, again: restart, forget: () => (state = undefined) };
}

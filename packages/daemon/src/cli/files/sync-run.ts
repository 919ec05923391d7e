import { isThinkeryError } from "@thinkery/sdk";
import { ChangeSignal } from "../change-signal.ts";
import { wait } from "../wait.ts";
import type { Mirror } from "./sync-mirror.ts";
import type { Remote } from "./sync-remote.ts";
import { FolderWatch } from "./sync-watch.ts";

interface RunOptions {
  folder: string;
  mirror: Mirror;
  remote: Remote;
  signal: AbortSignal;
  force: boolean;
  /** Called when both sides are in sync for the first time, except `unsynced` files. */
  onSynced(unsynced: number): void;
  /** Called when the host becomes unavailable or available again. */
  onHostChange(isAvailable: boolean): void;
  /** Finds the host again. */
  reconnect(): Promise<void>;
}

const debounceMs = 100;
/** Delay before the next pass if files were incomplete or changed during the last one. */
const retryMs = 300;
/** Finds changes that no watcher reported. */
const pollMs = 15_000;
/** The same if the folder cannot be watched. */
const blindPollMs = 2000;
const reconnectMs = 1000;
/** Time limit of the last pass after the user stops the sync. */
const finalPassMs = 2000;
/** Maximum passes of a single sync. */
const maxPasses = 60;

/** Syncs once; returns the number of files that could not be synced, or undefined if the sync did not settle. */
export async function syncOnce({
  mirror,
  force,
  signal,
}: Pick<RunOptions, "mirror" | "force" | "signal">): Promise<number | undefined> {
  for (let attempt = 0; attempt < maxPasses && !signal.aborted; attempt++) {
    if (attempt > 0) await wait(retryMs, signal);
    const { isComplete, unsynced } = await mirror.runPass({ force, isFirst: attempt === 0, signal });
    if (isComplete) return unsynced;
  }
  return undefined;
}

/** Syncs continuously until the signal aborts; returns whether both sides are in sync. */
export async function keepSynced({
  folder,
  mirror,
  remote,
  signal,
  force,
  onSynced,
  onHostChange,
  reconnect,
}: RunOptions): Promise<boolean> {
  const changes = new ChangeSignal();
  const watch = new FolderWatch(folder, () => changes.set());
  const stop = new AbortController();
  const watchSignal = AbortSignal.any([signal, stop.signal]);
  let watchError: unknown;
  const watching = remote
    .watch(() => changes.set(), watchSignal)
    .catch((error: unknown) => {
      watchError = error;
      changes.set();
    });
  let isComplete = false;
  let isAway = false;
  let isFirst = true;
  let wasSynced = false;
  try {
    while (!signal.aborted) {
      if (watchError) throw watchError;
      changes.clear();
      try {
        const pass = await mirror.runPass({ isFirst, force: force && isFirst, signal });
        isComplete = pass.isComplete;
        isFirst = false;
        if (isAway) onHostChange(true);
        isAway = false;
        if (isComplete && !wasSynced) onSynced(pass.unsynced);
        wasSynced ||= isComplete;
        if (watch.setFolders(pass.folders)) changes.set();
      } catch (error) {
        if (!isThinkeryError(error) || error.code !== "unavailable") throw error;
        isComplete = false;
        if (!isAway) onHostChange(false);
        isAway = true;
        await wait(reconnectMs, signal);
        await reconnect();
        continue;
      }
      if (!isComplete) await wait(retryMs, signal);
      else {
        await changes.wait(watch.isBlind ? blindPollMs : pollMs, signal);
        await wait(debounceMs, signal);
      }
    }
    if (isComplete && !changes.isSet) return true;
    // Sync changes made just before stopping, if there are not too many.
    return (
      !isAway &&
      (await mirror.runPass({ isFirst, signal: AbortSignal.timeout(finalPassMs) }).catch(ignoreUnavailable)).isComplete
    );
  } finally {
    stop.abort();
    watch.close();
    await watching;
  }
}

function ignoreUnavailable(error: unknown): { isComplete: boolean } {
  if (isThinkeryError(error) && ["unavailable", "rate_limited"].includes(error.code)) return { isComplete: false };
  throw error;
}

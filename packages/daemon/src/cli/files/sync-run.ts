import { isThinkeryError } from "@thinkery/sdk";
import { wait } from "./sync-host.ts";
import type { Mirror } from "./sync-mirror.ts";
import type { Remote } from "./sync-remote.ts";
import { FolderWatch } from "./sync-watch.ts";

interface RunOptions {
  folder: string;
  mirror: Mirror;
  remote: Remote;
  signal: AbortSignal;
  isSure: boolean;
  /** Both sides have the same, for the first time; but for so many files. */
  onSynced(left: number): void;
  /** The host is away, or back. */
  onHostChange(isThere: boolean): void;
  /** Looks for the host again. */
  reconnect(): Promise<void>;
}

/** So long a burst of changes is let go on. */
const debounceMs = 100;
/** What was not whole, or changed under our hands, is looked at again so soon. */
const retryMs = 300;
/** Whatever nobody told us of is found so often; and where nobody tells us anything. */
const pollMs = 15_000;
const blindPollMs = 2000;
const reconnectMs = 1000;
/** Whoever leaves is kept so long. */
const finalPassMs = 2000;
/** A single pass is given so many tries to come to rest. */
const maxTries = 60;

/** Until both sides have the same, once, but for as many files as is answered. Nothing where they do not come to rest. */
export async function syncOnce({
  mirror,
  isSure,
  signal,
}: Pick<RunOptions, "mirror" | "isSure" | "signal">): Promise<number | undefined> {
  for (let attempt = 0; attempt < maxTries && !signal.aborted; attempt++) {
    if (attempt > 0) await wait(retryMs, signal);
    const { isComplete, left } = await mirror.runPass({ isSure, isFirst: attempt === 0, signal });
    if (isComplete) return left;
  }
  return undefined;
}

/** Keeps them alike until the signal fires. The answer is whether they are. */
export async function keepSynced({
  folder,
  mirror,
  remote,
  signal,
  isSure,
  onSynced,
  onHostChange,
  reconnect,
}: RunOptions): Promise<boolean> {
  const changes = new ChangeSignal();
  const watch = new FolderWatch(folder, () => changes.set());
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  let lost: unknown;
  const watching = remote
    .watch(() => changes.set(), either)
    .catch((error: unknown) => {
      lost = error;
      changes.set();
    });
  let isComplete = false;
  let isAway = false;
  let isFirst = true;
  let wasSynced = false;
  try {
    while (!signal.aborted) {
      if (lost) throw lost;
      changes.clear();
      try {
        const pass = await mirror.runPass({ isFirst, isSure: isSure && isFirst, signal });
        isComplete = pass.isComplete;
        isFirst = false;
        if (isAway) onHostChange(true);
        isAway = false;
        if (isComplete && !wasSynced) onSynced(pass.left);
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
    // Whoever leaves just after a change takes it along, if it is not too much.
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
  if (isThinkeryError(error) && error.code === "unavailable") return { isComplete: false };
  throw error;
}

/** Has anything happened that was not looked at? */
class ChangeSignal {
  isSet = false;
  #wake = () => {};

  set(): void {
    this.isSet = true;
    this.#wake();
  }

  clear(): void {
    this.isSet = false;
  }

  /** Comes back when there is some, and at the latest after so long. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (this.isSet) return;
    const woken = new AbortController();
    const leave = () => woken.abort();
    this.#wake = leave;
    signal.addEventListener("abort", leave, { once: true });
    if (!signal.aborted) await wait(ms, woken.signal);
    signal.removeEventListener("abort", leave);
  }
}

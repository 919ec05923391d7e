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
  onAlike(left: number): void;
  /** The host is away, or back. */
  onHost(isThere: boolean): void;
  /** Looks for the host again. */
  reopen(): Promise<void>;
}

/** So long a burst of changes is let go on. */
const gatherMs = 100;
/** What was not whole, or changed under our hands, is looked at again so soon. */
const againMs = 300;
/** Whatever nobody told us of is found so often; and where nobody tells us anything. */
const doubtMs = 15_000;
const blindMs = 2000;
const awayMs = 1000;
/** Whoever leaves is kept so long. */
const leaveMs = 2000;
/** A single pass is given so many tries to come to rest. */
const maxTries = 60;

/** Until both sides have the same, once, but for as many files as is answered. Nothing where they do not come to rest. */
export async function makeAlike({ mirror, isSure, signal }: Pick<RunOptions, "mirror" | "isSure" | "signal">): Promise<number | undefined> {
  for (let attempt = 0; attempt < maxTries && !signal.aborted; attempt++) {
    if (attempt > 0) await wait(againMs, signal);
    const { isComplete, left } = await mirror.pass({ isSure, isFirst: attempt === 0, signal });
    if (isComplete) return left;
  }
  return undefined;
}

/** Keeps them alike until the signal fires. The answer is whether they are. */
export async function keepAlike({ folder, mirror, remote, signal, isSure, onAlike, onHost, reopen }: RunOptions): Promise<boolean> {
  const news = new News();
  const watch = new FolderWatch(folder, () => news.say());
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  let lost: unknown;
  const watching = remote.watch(() => news.say(), either).catch((error: unknown) => {
    lost = error;
    news.say();
  });
  let isComplete = false;
  let isAway = false;
  let isFirst = true;
  let wasAlike = false;
  try {
    while (!signal.aborted) {
      if (lost) throw lost;
      news.clear();
      try {
        const pass = await mirror.pass({ isFirst, isSure: isSure && isFirst, signal });
        isComplete = pass.isComplete;
        isFirst = false;
        if (isAway) onHost(true);
        isAway = false;
        if (isComplete && !wasAlike) onAlike(pass.left);
        wasAlike ||= isComplete;
        if (watch.cover(pass.folders)) news.say();
      } catch (error) {
        if (!isThinkeryError(error) || error.code !== "unavailable") throw error;
        isComplete = false;
        if (!isAway) onHost(false);
        isAway = true;
        await wait(awayMs, signal);
        await reopen();
        continue;
      }
      if (!isComplete) await wait(againMs, signal);
      else {
        await news.within(watch.isBlind ? blindMs : doubtMs, signal);
        await wait(gatherMs, signal);
      }
    }
    if (isComplete && !news.isThere) return true;
    // Whoever leaves just after a change takes it along, if it is not too much.
    return !isAway && (await mirror.pass({ isFirst, signal: AbortSignal.timeout(leaveMs) }).catch(ifAway)).isComplete;
  } finally {
    stop.abort();
    watch.close();
    await watching;
  }
}

function ifAway(error: unknown): { isComplete: boolean } {
  if (isThinkeryError(error) && error.code === "unavailable") return { isComplete: false };
  throw error;
}

/** Has anything happened that was not looked at? */
class News {
  isThere = false;
  #wake = () => {};

  say(): void {
    this.isThere = true;
    this.#wake();
  }

  clear(): void {
    this.isThere = false;
  }

  /** Comes back when there is some, and at the latest after so long. */
  async within(ms: number, signal: AbortSignal): Promise<void> {
    if (this.isThere) return;
    const woken = new AbortController();
    const leave = () => woken.abort();
    this.#wake = leave;
    signal.addEventListener("abort", leave, { once: true });
    if (!signal.aborted) await wait(ms, woken.signal);
    signal.removeEventListener("abort", leave);
  }
}

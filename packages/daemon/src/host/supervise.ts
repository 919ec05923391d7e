import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { isThinkeryError, type HostStatus } from "@thinkery/sdk";
import { defaultLimits, type Limits } from "./limits.ts";
import type { Child, Exit } from "./process.ts";

type SlotStatus = HostStatus["slots"][number];

export interface Charge {
  name: string;
  /** Before every start. A `fail()` thrown here or by `start` ends all attempts. */
  prepare?(): Promise<void>;
  start(onLine: (line: string) => void): Child;
  /** Resolves when the child answered. */
  ping(signal: AbortSignal): Promise<void>;
  /** Resolves when the child has nothing under way and may be killed. */
  drain?(signal: AbortSignal): Promise<void>;
  /** Asked when a child ended that never answered: why the next would end the same, or that it will be another one. */
  verdict?(): Error | "renewed" | undefined;
  /** What the child says, and what happens to it. */
  onLine(line: string): void;
  onEvent(text: string): void;
  onGiveUp(reason: string): void;
  retry: boolean;
}

interface Supervised {
  /** Starts the child; resolves when it is ready for the first time, rejects when that will not happen. */
  start(): Promise<void>;
  status(): SlotStatus;
  /** Ends the child as `stop` does, and starts the next one at once, which is no failure. */
  renew(graceMs: number): Promise<void>;
  /** Drained for at most `graceMs`, then killed. What a child answered is on disk, so killing it loses nothing. */
  stop(graceMs: number): Promise<void>;
}

interface End {
  reason: string;
  /** How long it was ready. */
  lived: number;
  hopeless?: boolean;
  renewed?: boolean;
  error?: Error;
}

/** Keeps one child alive until told to stop. */
export function supervise(charge: Charge, given: Partial<Limits> = {}): Supervised {
  const limits = { ...defaultLimits, ...given };
  const stopping = new AbortController();
  let state: SlotStatus["state"] = "starting";
  let restarts = 0;
  let child: Child | undefined;
  let lastLines: string[] = [];
  let failures: number[] = [];
  let delay = limits.backoffMs;
  let running: Promise<void> | undefined;
  let renewing = false;

  let becameReady!: () => void;
  let cannotBeReady!: (error: Error) => void;
  const firstReady = new Promise<void>((resolve, reject) => {
    becameReady = resolve;
    cannotBeReady = reject;
  });
  firstReady.catch(() => {});

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const end = await life();
      child = undefined;
      if (stopping.signal.aborted) break;
      state = "restarting";
      if (end.renewed) continue;
      // Only what cannot even start is kept waiting; what lived for a moment is counted below.
      if (end.lived > 0) delay = limits.backoffMs;
      if (end.hopeless || tooOften()) {
        state = "failed";
        charge.onGiveUp(giveUpReason(end));
        cannotBeReady(end.error ?? new Error(giveUpReason(end)));
        if (!charge.retry) return;
        await pause(limits.retryMs);
        failures = [];
      } else {
        charge.onEvent(`${charge.name} ${end.reason}; starting it again`);
        await pause(delay);
        delay = Math.min(delay * 2, limits.maxBackoffMs);
      }
      restarts++;
    }
    cannotBeReady(new Error(`${charge.name} was stopped`));
  }

  async function life(): Promise<End> {
    lastLines = [];
    renewing = false;
    try {
      await charge.prepare?.();
      if (stopping.signal.aborted) return { reason: "was stopped", lived: 0 };
      // It was prepared for what is wanted no longer.
      if (renewing) return { reason: "was renewed", lived: 0, renewed: true };
      child = charge.start(heard);
    } catch (error) {
      return { reason: (error as Error).message, lived: 0, hopeless: isThinkeryError(error), error: error as Error };
    }
    return watch(child);
  }

  // Silence is counted in our own ticks, so that a daemon that was itself asleep does not blame its child.
  async function watch(current: Child): Promise<End> {
    const gone = new AbortController();
    // Every unanswered ping listens to it.
    setMaxListeners(0, gone.signal);
    let readyAt: number | undefined;
    let silent = 0;
    let killedFor: string | undefined;

    async function ask(): Promise<void> {
      try {
        await charge.ping(gone.signal);
      } catch {
        if (readyAt !== undefined || gone.signal.aborted) return;
        await sleep(20, undefined, { signal: gone.signal }).catch(() => {});
        return gone.signal.aborted || readyAt !== undefined ? undefined : ask();
      }
      silent = 0;
      if (readyAt !== undefined || gone.signal.aborted) return;
      readyAt = performance.now();
      state = "ready";
      becameReady();
    }

    void current.listening.then(ask);
    const ticks = setInterval(() => {
      silent += limits.pingMs;
      const limit = readyAt === undefined ? limits.startMs : limits.silenceMs;
      if (silent >= limit && killedFor === undefined) {
        killedFor = `did not answer for ${limit / 1000} s and was killed`;
        current.kill("SIGKILL");
      }
      if (readyAt !== undefined) void ask();
    }, limits.pingMs);

    const exit = await current.exited;
    clearInterval(ticks);
    gone.abort();
    const reason = killedFor ?? describe(exit);
    if (readyAt !== undefined) return { reason, lived: performance.now() - readyAt, renewed: renewing };
    const verdict = renewing ? "renewed" : charge.verdict?.();
    if (verdict instanceof Error) return { reason: verdict.message, lived: 0, hopeless: true, error: verdict };
    return { reason, lived: 0, renewed: verdict === "renewed" };
  }

  function heard(line: string): void {
    lastLines.push(line);
    if (lastLines.length > 10) lastLines.shift();
    charge.onLine(line);
  }

  function tooOften(): boolean {
    const now = performance.now();
    failures = [...failures.filter((at) => now - at < limits.windowMs), now];
    return failures.length >= limits.failures;
  }

  function giveUpReason(end: End): string {
    if (end.hopeless) return end.reason;
    const said = lastLines.length > 0 ? ` Its last words: ${lastLines.join(" | ")}` : "";
    return `${charge.name} ${end.reason}, ${failures.length} failures in a short time.${said}`;
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
  }

  async function dismiss(graceMs: number): Promise<void> {
    const last = child;
    if (!last) return;
    const patience = AbortSignal.timeout(graceMs);
    if (graceMs > 0 && state === "ready") {
      await Promise.race([charge.drain?.(patience).catch(() => {}), last.exited]);
    }
    last.kill("SIGKILL");
    await last.exited;
  }

  return {
    start() {
      running ??= run();
      return firstReady;
    },
    status: () => ({ name: charge.name, state, restarts, ...(child?.pid ? { pid: child.pid } : {}) }),
    async renew(graceMs) {
      renewing = true;
      await dismiss(graceMs);
    },
    async stop(graceMs) {
      stopping.abort();
      await dismiss(graceMs);
      await running;
    },
  };
}

function describe(exit: Exit): string {
  if (exit.error) return `could not be started (${exit.error.message})`;
  return exit.signal ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`;
}

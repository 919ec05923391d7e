import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { isThinkeryError } from "@thinkery/sdk";
import type { HostStatus } from "@thinkery/sdk/internal";
import { defaultLimits, type Limits } from "./limits.ts";
import type { Child, Exit } from "./process.ts";
import { createReadiness } from "./readiness.ts";

type SlotStatus = HostStatus["slots"][number];

export interface ChildSpec {
  name: string;
  /** Before every start. A `fail()` thrown here or by `start` ends all attempts. */
  prepare?(): Promise<void>;
  start(onLine: (line: string) => void): Child;
  /** Resolves when the child answered. */
  ping(signal: AbortSignal): Promise<void>;
  /** Resolves when the child has nothing under way and may be killed. */
  drain?(signal: AbortSignal): Promise<void>;
  /** Asked when a child ended that never answered: why the next would end the same, or that it will be another one. */
  diagnose?(): Error | "renewed" | undefined;
  /** What the child says, and what happens to it. */
  onLine(line: string): void;
  onEvent(text: string): void;
  onGiveUp(reason: string): void;
  /** A child is gone. */
  onEnd?(end: ChildEnd): void;
  canRetry: boolean;
  /** A child that was ready may end as often as it likes, for the next one starts at once; code that nobody vouches for runs in it. */
  isDisposable?: boolean;
}

export interface ChildEnd {
  generation: number;
  exit: Exit;
  /** Why we killed it, where we did. */
  killedFor?: "silence" | "renewal" | "stop";
  lastLines: readonly string[];
}

interface Supervisor {
  /** Starts the child; resolves when it is ready for the first time, rejects when that will not happen. */
  start(): Promise<void>;
  /** Resolves when a child that came after this generation is ready, with its own; rejects when none can be for now. */
  waitUntilReady(after: number): Promise<number>;
  getStatus(): SlotStatus;
  /** Resolves when the child is another one than that of this generation, or none, but after `ms` at the latest. */
  waitUntilGone(generation: number, ms: number): Promise<void>;
  /**
   * Ends the child as `stop` does, and starts the next one at once, which is no failure. Given a generation, no other child
   * than that one is ended.
   */
  renew(graceMs: number, generation?: number): Promise<void>;
  /** Drained for at most `graceMs`, then killed. What a child answered is on disk, so killing it loses nothing. */
  stop(graceMs: number): Promise<void>;
}

interface LifeEnd {
  reason: string;
  /** How long it was ready. */
  livedMs: number;
  isFinal?: boolean;
  isRenewed?: boolean;
  error?: Error;
}

/** Keeps one child alive until told to stop. */
export function supervise(charge: ChildSpec, given: Partial<Limits> = {}): Supervisor {
  const limits = { ...defaultLimits, ...given };
  const stopping = new AbortController();
  let state: SlotStatus["state"] = "starting";
  let restarts = 0;
  /** How many children there were. */
  let generation = 0;
  let child: Child | undefined;
  let killedFor: ChildEnd["killedFor"];
  let lastLines: string[] = [];
  let failures: number[] = [];
  let delay = limits.backoffMs;
  let running: Promise<void> | undefined;
  let isRenewing = false;
  const childReadiness = createReadiness();
  const firstReady = childReadiness.waitAfter(0).then(() => {});
  firstReady.catch(() => {});

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const end = await runChild();
      if (stopping.signal.aborted) break;
      state = "restarting";
      if (end.isRenewed) continue;
      // Only what cannot even start is kept waiting; what lived for a moment is counted below.
      if (end.livedMs > 0) delay = limits.backoffMs;
      if (charge.isDisposable && end.livedMs > 0) {
        restarts++;
        continue;
      }
      if (end.isFinal || hasFailedTooOften()) {
        state = "failed";
        charge.onGiveUp(formatGiveUpReason(end));
        childReadiness.giveUp(end.error ?? new Error(formatGiveUpReason(end)));
        if (!charge.canRetry) return;
        await pause(limits.retryMs);
        failures = [];
        childReadiness.reset();
      } else {
        charge.onEvent(`${charge.name} ${end.reason}; starting it again`);
        await pause(delay);
        delay = Math.min(delay * 2, limits.maxBackoffMs);
      }
      restarts++;
    }
    childReadiness.giveUp(new Error(`${charge.name} was stopped`));
  }

  async function runChild(): Promise<LifeEnd> {
    lastLines = [];
    isRenewing = false;
    killedFor = undefined;
    try {
      await charge.prepare?.();
      if (stopping.signal.aborted) return { reason: "was stopped", livedMs: 0 };
      // It was prepared for what is wanted no longer.
      if (isRenewing) return { reason: "was renewed", livedMs: 0, isRenewed: true };
      child = charge.start(handleLine);
      generation++;
    } catch (error) {
      return { reason: (error as Error).message, livedMs: 0, isFinal: isThinkeryError(error), error: error as Error };
    }
    return watch(child);
  }

  // Silence is counted in our own ticks, so that a daemon that was itself asleep does not blame its child.
  async function watch(current: Child): Promise<LifeEnd> {
    const gone = new AbortController();
    // Every unanswered ping listens to it.
    setMaxListeners(0, gone.signal);
    let readyAt: number | undefined;
    let silent = 0;
    let silentFor = 0;

    async function pingChild(): Promise<void> {
      try {
        await charge.ping(gone.signal);
      } catch {
        if (readyAt !== undefined || gone.signal.aborted) return;
        await sleep(20, undefined, { signal: gone.signal }).catch(() => {});
        return gone.signal.aborted || readyAt !== undefined ? undefined : pingChild();
      }
      silent = 0;
      if (readyAt !== undefined || gone.signal.aborted) return;
      readyAt = performance.now();
      state = "ready";
      childReadiness.setReady(generation);
    }

    void current.listening.then(pingChild);
    const ticks = setInterval(() => {
      silent += limits.pingMs;
      const limit = readyAt === undefined ? limits.startMs : limits.silenceMs;
      if (silent >= limit && killedFor === undefined) {
        silentFor = limit;
        kill(current, "silence");
      }
      if (readyAt !== undefined) void pingChild();
    }, limits.pingMs);

    const exit = await current.exited;
    clearInterval(ticks);
    gone.abort();
    child = undefined;
    childReadiness.clearReady();
    charge.onEnd?.({ generation, exit, lastLines, ...(killedFor ? { killedFor } : {}) });
    const reason =
      killedFor === "silence" ? `did not answer for ${silentFor / 1000} s and was killed` : describeExit(exit);
    if (readyAt !== undefined) return { reason, livedMs: performance.now() - readyAt, isRenewed: isRenewing };
    const verdict = isRenewing ? "renewed" : charge.diagnose?.();
    if (verdict instanceof Error) return { reason: verdict.message, livedMs: 0, isFinal: true, error: verdict };
    return { reason, livedMs: 0, isRenewed: verdict === "renewed" };
  }

  function handleLine(line: string): void {
    lastLines.push(line);
    if (lastLines.length > 10) lastLines.shift();
    charge.onLine(line);
  }

  function hasFailedTooOften(): boolean {
    const now = performance.now();
    failures = [...failures.filter((at) => now - at < limits.windowMs), now];
    return failures.length >= limits.failures;
  }

  function formatGiveUpReason(end: LifeEnd): string {
    if (end.isFinal) return end.reason;
    const said = lastLines.length > 0 ? ` Its last words: ${lastLines.join(" | ")}` : "";
    return `${charge.name} ${end.reason}, ${failures.length} failures in a short time.${said}`;
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
  }

  async function endChild(graceMs: number, reason: "renewal" | "stop"): Promise<void> {
    const last = child;
    if (!last) return;
    const retryTimeoutMs = AbortSignal.timeout(graceMs);
    if (graceMs > 0 && state === "ready") {
      await Promise.race([charge.drain?.(retryTimeoutMs).catch(() => {}), last.exited]);
    }
    kill(last, reason);
    await last.exited;
  }

  function kill(last: Child, reason: ChildEnd["killedFor"]): void {
    if (child !== last) return;
    childReadiness.clearReady();
    // One that went down by itself meanwhile was not killed by us.
    if (last.kill("SIGKILL")) killedFor ??= reason;
  }

  return {
    start() {
      running ??= run();
      return firstReady;
    },
    waitUntilReady: childReadiness.waitAfter,
    getStatus: () => ({ name: charge.name, state, restarts, generation, ...(child?.pid ? { pid: child.pid } : {}) }),
    async waitUntilGone(one, ms) {
      if (child && generation === one) await Promise.race([child.exited, sleep(ms, undefined, { ref: false })]);
    },
    async renew(graceMs, one) {
      if (one !== undefined && !(child && generation === one)) return;
      isRenewing = true;
      await endChild(graceMs, "renewal");
    },
    async stop(graceMs) {
      stopping.abort();
      await endChild(graceMs, "stop");
      // One that was never started has nobody else to tell those who wait.
      await (running ??= run());
    },
  };
}

function describeExit(exit: Exit): string {
  if (exit.error) return `could not be started (${exit.error.message})`;
  return exit.signal ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`;
}

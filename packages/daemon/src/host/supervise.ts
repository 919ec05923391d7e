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
  /** Runs before every start. A `fail()` thrown here or by `start` ends all attempts. */
  prepare?(): Promise<void>;
  start(onLine: (line: string) => void): Child;
  /** Resolves when the child responds. */
  ping(signal: AbortSignal): Promise<void>;
  /** Resolves when the child has no running work and may be killed. */
  drain?(signal: AbortSignal): Promise<void>;
  /**
   * Called when a child ended before it ever responded. Returns an error if another attempt is pointless, or "renewed"
   * if the next attempt runs something else.
   */
  diagnose?(): Error | "renewed" | undefined;
  /** A line of the child's output. */
  onLine(line: string): void;
  /** A message about the child's lifecycle. */
  onEvent(text: string): void;
  onGiveUp(reason: string): void;
  /** Called when a child has exited. */
  onEnd?(ended: ChildEnd): void;
  canRetry: boolean;
  /** The child runs untrusted code: if it was ready, its end is no failure and the next one starts at once. */
  isDisposable?: boolean;
}

export interface ChildEnd {
  generation: number;
  exit: Exit;
  /** Why we killed it, if we did. */
  killedFor?: "silence" | "renewal" | "stop";
  lastLines: readonly string[];
}

interface Supervisor {
  /** Starts the child. Resolves when it is first ready; rejects if supervision gives up before that. */
  start(): Promise<void>;
  /** Resolves with the generation of a ready child newer than `after`; rejects after giving up. */
  waitUntilReady(after: number): Promise<number>;
  getStatus(): SlotStatus;
  /** Resolves when the child of this generation is gone, or after `ms`. */
  waitUntilGone(generation: number, ms: number): Promise<void>;
  /**
   * Ends the child as `stop` does and starts the next one at once, without counting a failure. If `generation` is
   * given, only the child of that generation is ended.
   */
  renew(graceMs: number, generation?: number): Promise<void>;
  /**
   * Drains the child for at most `graceMs`, then kills it. Whatever a child acknowledged is on disk, so nothing is
   * lost.
   */
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

/** Keeps one child process alive until it is stopped. */
export function supervise(spec: ChildSpec, overrides: Partial<Limits> = {}): Supervisor {
  const limits = { ...defaultLimits, ...overrides };
  const stopping = new AbortController();
  let state: SlotStatus["state"] = "starting";
  let restarts = 0;
  /** Number of children started so far. */
  let generation = 0;
  let child: Child | undefined;
  let killedFor: ChildEnd["killedFor"];
  let lastLines: string[] = [];
  let failures: number[] = [];
  let delay = limits.backoffMs;
  let running: Promise<void> | undefined;
  let isRenewing = false;
  const readiness = createReadiness();
  const firstReady = readiness.waitAfter(0).then(() => {});
  firstReady.catch(() => {});

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const ended = await runChild();
      if (stopping.signal.aborted) break;
      state = "restarting";
      if (ended.isRenewed) continue;
      // Back off only while the child cannot start; short lives are counted as failures below.
      if (ended.livedMs > 0) delay = limits.backoffMs;
      if (spec.isDisposable && ended.livedMs > 0) {
        restarts++;
        continue;
      }
      if (ended.isFinal || hasFailedTooOften()) {
        state = "failed";
        spec.onGiveUp(formatGiveUpReason(ended));
        readiness.giveUp(ended.error ?? new Error(formatGiveUpReason(ended)));
        if (!spec.canRetry) return;
        await pause(limits.retryMs);
        failures = [];
        readiness.reset();
      } else {
        spec.onEvent(`${spec.name} ${ended.reason}; restarting`);
        await pause(delay);
        delay = Math.min(delay * 2, limits.maxBackoffMs);
      }
      restarts++;
    }
    readiness.giveUp(new Error(`${spec.name} was stopped`));
  }

  async function runChild(): Promise<LifeEnd> {
    lastLines = [];
    isRenewing = false;
    killedFor = undefined;
    try {
      await spec.prepare?.();
      if (stopping.signal.aborted) return { reason: "was stopped", livedMs: 0 };
      // A renewal during prepare() makes what was prepared obsolete.
      if (isRenewing) return { reason: "was renewed", livedMs: 0, isRenewed: true };
      child = spec.start(handleLine);
      generation++;
    } catch (error) {
      return { reason: (error as Error).message, livedMs: 0, isFinal: isThinkeryError(error), error: error as Error };
    }
    return watch(child);
  }

  // Silence is counted in our own ticks, so that a suspended daemon does not blame its child.
  async function watch(current: Child): Promise<LifeEnd> {
    const gone = new AbortController();
    // Every pending ping adds a listener.
    setMaxListeners(0, gone.signal);
    let readyAt: number | undefined;
    let silentMs = 0;
    let exceededMs = 0;

    async function pingChild(): Promise<void> {
      try {
        await spec.ping(gone.signal);
      } catch {
        if (readyAt !== undefined || gone.signal.aborted) return;
        await sleep(20, undefined, { signal: gone.signal }).catch(() => {});
        return gone.signal.aborted || readyAt !== undefined ? undefined : pingChild();
      }
      silentMs = 0;
      if (readyAt !== undefined || gone.signal.aborted) return;
      readyAt = performance.now();
      state = "ready";
      readiness.setReady(generation);
    }

    void current.listening.then(pingChild);
    const ticks = setInterval(() => {
      silentMs += limits.pingMs;
      const limit = readyAt === undefined ? limits.startMs : limits.silenceMs;
      if (silentMs >= limit && killedFor === undefined) {
        exceededMs = limit;
        kill(current, "silence");
      }
      if (readyAt !== undefined) void pingChild();
    }, limits.pingMs);

    const exit = await current.exited;
    clearInterval(ticks);
    gone.abort();
    child = undefined;
    readiness.clearReady();
    spec.onEnd?.({ generation, exit, lastLines, ...(killedFor ? { killedFor } : {}) });
    const reason =
      killedFor === "silence" ? `did not respond for ${exceededMs / 1000} s and was killed` : describeExit(exit);
    if (readyAt !== undefined) return { reason, livedMs: performance.now() - readyAt, isRenewed: isRenewing };
    const verdict = isRenewing ? "renewed" : spec.diagnose?.();
    if (verdict instanceof Error) return { reason: verdict.message, livedMs: 0, isFinal: true, error: verdict };
    return { reason, livedMs: 0, isRenewed: verdict === "renewed" };
  }

  function handleLine(line: string): void {
    lastLines.push(line);
    if (lastLines.length > 10) lastLines.shift();
    spec.onLine(line);
  }

  function hasFailedTooOften(): boolean {
    const now = performance.now();
    failures = [...failures.filter((at) => now - at < limits.windowMs), now];
    return failures.length >= limits.failures;
  }

  function formatGiveUpReason(ended: LifeEnd): string {
    if (ended.isFinal) return ended.reason;
    const output = lastLines.length > 0 ? ` Last output: ${lastLines.join(" | ")}` : "";
    return `${spec.name} ${ended.reason}; giving up after ${failures.length} failures.${output}`;
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
  }

  async function endChild(graceMs: number, reason: "renewal" | "stop"): Promise<void> {
    const current = child;
    if (!current) return;
    const timeout = AbortSignal.timeout(graceMs);
    if (graceMs > 0 && state === "ready") {
      await Promise.race([spec.drain?.(timeout).catch(() => {}), current.exited]);
    }
    kill(current, reason);
    await current.exited;
  }

  function kill(target: Child, reason: ChildEnd["killedFor"]): void {
    if (child !== target) return;
    readiness.clearReady();
    // If it exited by itself in the meantime, we did not kill it.
    if (target.kill("SIGKILL")) killedFor ??= reason;
  }

  return {
    start() {
      running ??= run();
      return firstReady;
    },
    waitUntilReady: readiness.waitAfter,
    getStatus: () => ({ name: spec.name, state, restarts, generation, ...(child?.pid ? { pid: child.pid } : {}) }),
    async waitUntilGone(target, ms) {
      if (child && generation === target) await Promise.race([child.exited, sleep(ms, undefined, { ref: false })]);
    },
    async renew(graceMs, target) {
      if (target !== undefined && !(child && generation === target)) return;
      isRenewing = true;
      await endChild(graceMs, "renewal");
    },
    async stop(graceMs) {
      stopping.abort();
      await endChild(graceMs, "stop");
      // If it was never started, run() is what rejects the pending waits.
      await (running ??= run());
    },
  };
}

function describeExit(exit: Exit): string {
  if (exit.error) return `failed to start (${exit.error.message})`;
  return exit.signal ? `was killed by ${exit.signal}` : `exited with code ${exit.code}`;
}

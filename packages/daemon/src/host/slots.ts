import { fail, isThinkeryError } from "@thinkery/sdk";
import type { HostStatus, SandboxLimits, SlotRenewal } from "@thinkery/sdk/internal";
import { removeFolder } from "../folder/remove.ts";
import type { Home } from "../home/home.ts";
import { findInnerProcess } from "./inner-process.ts";
import { describeIsolation, listPrograms, type SandboxIsolation, findIsolation } from "./isolation.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { limitLineRate } from "./line-rate-limit.ts";
import { createSandboxChild } from "./sandbox.ts";
import { toEndCause, type SlotEndCause, isOutOfMemoryLine } from "./slot-end.ts";
import { getNobodyRoot } from "./slot-files.ts";
import { supervise } from "./supervise.ts";
import type { Module } from "./workerd-config.ts";
import { findWorkerdBinary } from "./workerd.ts";

interface SlotsOptions {
  home: Home;
  count: number;
  /** Further slots, for user agents, whose processes are started when they are first needed. */
  agentCount?: number;
  modules: Module[];
  sandbox: SandboxLimits;
  limits: Partial<Limits> | undefined;
  lockFd: number | undefined;
  /** Receives lines for the log only. */
  onLine(source: string, line: string): void;
  /** Receives messages that are shown to the user too. */
  onEvent(text: string): void;
  /** Overrides the detection of isolation programs. */
  findIsolation?(): Promise<SandboxIsolation>;
}

export interface Slots {
  /** Socket paths, by slot index. */
  sockets: string[];
  start(): void;
  status(): HostStatus["slots"];
  /**
   * Ends the process of a slot if it is still of this generation; resolves when a process is ready for code. A `lost`
   * process is given time to exit by itself first, so that the cause of its end is known. Generation -1 ends nothing.
   */
  renew(index: number, generation: number, lost: boolean): Promise<SlotRenewal>;
  /** Ends the processes that main has used; resolves when they are gone, before their replacements are ready. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** Main may notice that a process is gone before we do; on a busy machine, long before. */
const noticeTimeoutMs = 2000;

/** Number of past ends kept per slot. Usually only the last one is requested. */
const maxRememberedEnds = 32;

const agentCpuSeconds = 24 * 3600;

const logRateLimit = { maxLines: 100, perMs: 60_000, maxChars: 1_000 };

/** Creates the sandbox processes for untrusted code. */
export function createSlots({
  home,
  count,
  agentCount = 0,
  modules,
  lockFd,
  onLine,
  onEvent,
  ...options
}: SlotsOptions): Slots {
  const silenceMs = options.sandbox.stallTimeoutSeconds * 1000;
  const pingMs = Math.min(options.limits?.pingMs ?? defaultLimits.pingMs, silenceMs / 4);
  let isolation: SandboxIsolation | undefined;
  const getIsolation = memoize(async () => {
    isolation = await (options.findIsolation?.() ?? findIsolation(findWorkerdBinary()));
    onLine("daemon", describeIsolation(isolation));
    return isolation;
  });

  const all = Array.from({ length: count + agentCount }, (_, index) => {
    const child = createSandboxChild({
      home,
      index,
      modules,
      limits: options.sandbox,
      getIsolation,
      lockFd,
      // The process of an agent may live for days.
      ...(index >= count ? { cpuSeconds: agentCpuSeconds } : {}),
    });
    const ends = new Map<number, SlotEndCause>();
    const logLine = limitLineRate((line) => onLine(child.name, line), logRateLimit);
    let wasOutOfMemory = false;
    const process = supervise(
      {
        ...child,
        canRetry: true,
        onLine(line) {
          wasOutOfMemory ||= isOutOfMemoryLine(line);
          logLine(line);
        },
        onEvent,
        onGiveUp: onEvent,
        onEnd(end) {
          const cause = toEndCause(end, wasOutOfMemory);
          wasOutOfMemory = false;
          ends.set(end.generation, cause);
          ends.delete(end.generation - maxRememberedEnds);
          if (cause !== "asked") logLine(`process ${end.generation} ended: ${cause}`);
        },
      },
      { ...options.limits, silenceMs, pingMs },
    );
    return { socket: child.socket, process, ends, isUsed: false, isStarted: false };
  });

  const start = (slot: (typeof all)[number]) => {
    slot.isStarted = true;
    slot.process.start().catch(() => {});
  };

  return {
    sockets: all.map(({ socket }) => socket),
    start() {
      for (const slot of all.slice(0, count)) start(slot);
    },
    status: () =>
      all.map(({ process, isStarted }, index) => {
        const status = process.getStatus();
        if (!isStarted && index >= count) return { ...status, state: "unused" };
        const inner = status.pid === undefined ? undefined : findInnerProcess("workerd", status.pid);
        return { ...status, ...inner, ...(isolation ? { isolation: listPrograms(isolation) } : {}) };
      }),
    async renew(index, generation, lost) {
      const slot = all[index];
      if (!slot) throw fail("not_found", `There is no sandbox ${index}; this host has ${all.length}.`);
      const { process, ends } = slot;
      slot.isUsed = true;
      if (!slot.isStarted && index >= count) start(slot);
      if (lost) await process.waitUntilGone(generation, noticeTimeoutMs);
      const isCurrent = process.getStatus().generation === generation;
      await process.renew(0, generation);
      const next = await process.waitUntilReady(isCurrent ? generation : -1).catch((error: Error) => {
        throw isThinkeryError(error) ? error : fail("unavailable", error.message);
      });
      const ended = ends.get(generation);
      return { generation: next, ...(ended ? { ended } : {}) };
    },
    async clear() {
      // A process that is not ready, or that main has not requested, cannot have run anything: main requests one before
      // use.
      const used = all.filter(({ process, isUsed }) => isUsed && process.getStatus().state === "ready");
      for (const slot of used) slot.isUsed = false;
      await Promise.all(used.map(({ process }) => process.renew(0)));
    },
    async stop() {
      await Promise.all(all.map(({ process }) => process.stop(0)));
      if (isolation?.setpriv) await removeFolder(getNobodyRoot(home));
    },
  };
}

function memoize<T>(compute: () => Promise<T>): () => Promise<T> {
  let cached: Promise<T> | undefined;
  return () => (cached ??= compute());
}

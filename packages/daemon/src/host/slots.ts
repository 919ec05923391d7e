import { fail, isThinkeryError } from "@thinkery/sdk";
import type { HostStatus, SandboxLimits, SlotRenewal } from "@thinkery/sdk/internal";
import type { Home } from "../home/home.ts";
import { findInnerProcess } from "./inner-process.ts";
import { describeIsolation, listPrograms, type SandboxIsolation, findIsolation } from "./isolation.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { limitLineRate } from "./line-rate-limit.ts";
import { createSandboxChild } from "./sandbox.ts";
import { toEndCause, type SlotEndCause, isOutOfMemoryLine } from "./slot-end.ts";
import { supervise } from "./supervise.ts";
import type { Module } from "./workerd-config.ts";
import { findWorkerdBinary } from "./workerd.ts";

interface SlotsOptions {
  home: Home;
  count: number;
  modules: Module[];
  sandbox: SandboxLimits;
  limits: Partial<Limits> | undefined;
  lockFd: number | undefined;
  /** For the log alone. */
  onLine(source: string, line: string): void;
  /** What a person should hear of too. */
  onEvent(text: string): void;
  /** Those of this machine, unless somebody says otherwise. */
  findIsolation?(): Promise<SandboxIsolation>;
}

export interface Slots {
  /** Where main reaches them. */
  sockets: string[];
  start(): void;
  status(): HostStatus["slots"];
  /**
   * Ends the process of a slot if it is still this generation, and comes back when there is one that is ready for code.
   * One that is `lost` may end by itself first, and then tells why it did. Generation -1 ends nothing.
   */
  renew(index: number, generation: number, lost: boolean): Promise<SlotRenewal>;
  /** Ends whatever may run in those that were asked for; comes back when it is gone, not when there is something new. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** Whoever noticed that a process is gone may have noticed before us, on a busy machine long before. */
const noticeTimeoutMs = 2000;

/** How many ends are remembered. Only who asks late asks for one that is not the last. */
const maxRememberedEnds = 32;

const logRateLimit = { lines: 100, perMs: 60_000, longest: 1_000 };

/** The processes for code that nobody vouches for. */
export function createSlots({ home, count, modules, lockFd, onLine, onEvent, ...options }: SlotsOptions): Slots {
  const silenceMs = options.sandbox.stallTimeoutSeconds * 1000;
  const pingMs = Math.min(options.limits?.pingMs ?? defaultLimits.pingMs, silenceMs / 4);
  let isolation: SandboxIsolation | undefined;
  const getIsolation = memoize(async () => {
    isolation = await (options.findIsolation?.() ?? findIsolation(findWorkerdBinary()));
    onLine("daemon", describeIsolation(isolation));
    return isolation;
  });

  const all = Array.from({ length: count }, (_, index) => {
    const child = createSandboxChild({
      home,
      index,
      modules,
      limits: options.sandbox,
      getIsolation,
      lockFd,
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
    return { socket: child.socket, process, ends, asked: false };
  });

  return {
    sockets: all.map(({ socket }) => socket),
    start() {
      for (const { process } of all) process.start().catch(() => {});
    },
    status: () =>
      all.map(({ process }) => {
        const status = process.getStatus();
        const inner = status.pid === undefined ? undefined : findInnerProcess("workerd", status.pid);
        return { ...status, ...inner, ...(isolation ? { walls: listPrograms(isolation) } : {}) };
      }),
    async renew(index, generation, lost) {
      const slot = all[index];
      if (!slot) throw fail("not_found", `There is no sandbox ${index}; there are ${count}.`);
      const { process, ends } = slot;
      slot.asked = true;
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
      // One that is not ready yet cannot have run anything, nor one that nobody has asked for: main asks before it uses one.
      const used = all.filter(({ process, asked }) => asked && process.getStatus().state === "ready");
      for (const slot of used) slot.asked = false;
      await Promise.all(used.map(({ process }) => process.renew(0)));
    },
    async stop() {
      await Promise.all(all.map(({ process }) => process.stop(0)));
    },
  };
}

function memoize<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

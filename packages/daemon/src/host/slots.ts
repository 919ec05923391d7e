import { fail, isThinkeryError } from "@thinkery/sdk";
import type { HostStatus, SandboxLimits, SlotRenewal } from "@thinkery/sdk/internal";
import type { Home } from "../home/home.ts";
import { innerProcess } from "./inner-process.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { rationed } from "./ration.ts";
import { sandbox } from "./sandbox.ts";
import { causeOf, type SlotEndCause, tellsOfMemory } from "./slot-end.ts";
import { supervise } from "./supervise.ts";
import { describeWalls, namesOf, type Walls, wallsHere } from "./walls.ts";
import { workerdBinary } from "./workerd.ts";
import type { Module } from "./workerd-config.ts";

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
  walls?(): Promise<Walls>;
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
const noticeMs = 2000;

/** How many ends are remembered. Only who asks late asks for one that is not the last. */
const endsKept = 32;

const logRation = { lines: 100, perMs: 60_000, longest: 1_000 };

/** The processes for code that nobody vouches for. */
export function slots({ home, count, modules, lockFd, onLine, onEvent, ...options }: SlotsOptions): Slots {
  const silenceMs = options.sandbox.silenceSeconds * 1000;
  const pingMs = Math.min(options.limits?.pingMs ?? defaultLimits.pingMs, silenceMs / 4);
  let walls: Walls | undefined;
  const findWalls = once(async () => {
    walls = await (options.walls?.() ?? wallsHere(workerdBinary()));
    onLine("daemon", describeWalls(walls));
    return walls;
  });

  const all = Array.from({ length: count }, (_, index) => {
    const charge = sandbox({ home, index, modules, limits: options.sandbox, walls: findWalls, lockFd });
    const ends = new Map<number, SlotEndCause>();
    const heard = rationed((line) => onLine(charge.name, line), logRation);
    let hasToldOfMemory = false;
    const process = supervise(
      {
        ...charge,
        retry: true,
        onLine(line) {
          hasToldOfMemory ||= tellsOfMemory(line);
          heard(line);
        },
        onEvent,
        onGiveUp: onEvent,
        onEnd(end) {
          const cause = causeOf(end, hasToldOfMemory);
          hasToldOfMemory = false;
          ends.set(end.generation, cause);
          ends.delete(end.generation - endsKept);
          if (cause !== "asked") heard(`process ${end.generation} ended: ${cause}`);
        },
      },
      { ...options.limits, silenceMs, pingMs },
    );
    return { socket: charge.socket, process, ends, asked: false };
  });

  return {
    sockets: all.map(({ socket }) => socket),
    start() {
      for (const { process } of all) process.start().catch(() => {});
    },
    status: () =>
      all.map(({ process }) => {
        const status = process.status();
        const inner = status.pid === undefined ? undefined : innerProcess("workerd", status.pid);
        return { ...status, ...inner, ...(walls ? { walls: namesOf(walls) } : {}) };
      }),
    async renew(index, generation, lost) {
      const slot = all[index];
      if (!slot) throw fail("not_found", `There is no sandbox ${index}; there are ${count}.`);
      const { process, ends } = slot;
      slot.asked = true;
      if (lost) await process.gone(generation, noticeMs);
      const mayBe = process.status().generation === generation;
      await process.renew(0, generation);
      const next = await process.ready(mayBe ? generation : -1).catch((error: Error) => {
        throw isThinkeryError(error) ? error : fail("unavailable", error.message);
      });
      const ended = ends.get(generation);
      return { generation: next, ...(ended ? { ended } : {}) };
    },
    async clear() {
      // One that is not ready yet cannot have run anything, nor one that nobody has asked for: main asks before it uses one.
      const used = all.filter(({ process, asked }) => asked && process.status().state === "ready");
      for (const slot of used) slot.asked = false;
      await Promise.all(used.map(({ process }) => process.renew(0)));
    },
    async stop() {
      await Promise.all(all.map(({ process }) => process.stop(0)));
    },
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

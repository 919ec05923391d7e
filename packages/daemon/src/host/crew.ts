import { join } from "node:path";
import type { HostStatus, SlotRenewal } from "@thinkery/sdk/internal";
import type { Limits } from "./limits.ts";
import { main, type MainOptions } from "./main.ts";
import { slots } from "./slots.ts";
import { supervise } from "./supervise.ts";
import { workerChoice } from "./worker/choice.ts";
import type { LaidWorker } from "./worker/worker.ts";

interface CrewOptions extends Omit<MainOptions, "sandboxSockets" | "hostSocket" | "choice"> {
  /** In place of the stock Worker. */
  worker: LaidWorker | undefined;
  slots: number;
  limits: Partial<Limits> | undefined;
  /** A line that one of the processes wrote. */
  onLine(source: string, line: string): void;
  /** What happened to one of them. */
  onEvent(text: string): void;
  /** Main will not be started again. */
  onMainLost(reason: string): void;
}

/** The processes of a host. */
interface Crew {
  /** Resolves when main answers. */
  startMain(): Promise<void>;
  /** Apart, so that main has the machine to itself while somebody waits for it. */
  startSlots(): void;
  /** Where main listens, known once it answers. */
  port(): number;
  status(): HostStatus;
  /** A process of a slot that is ready for code, in place of one that is gone or has to go. */
  renewSlot(index: number, generation: number, lost: boolean): Promise<SlotRenewal>;
  /** Workers of one's own that main may still be started with. */
  workers(): LaidWorker[];
  /** Main again, with another Worker; with the one before when it cannot run. */
  renewMain(worker: LaidWorker, drainMs: number): Promise<void>;
  stop(drainMs: number): Promise<void>;
}

/** Whoever started the host has a first question for main; nobody needs a sandbox that soon. */
const headStart = 300;

export function hostSocket(run: string): string {
  return join(run, "host.sock");
}

export function crew(options: CrewOptions): Crew {
  const { home, parts, limits, onLine, onEvent, onMainLost } = options;

  const sandboxes = slots({ ...options, count: options.slots, modules: parts.sandbox });
  const choice = workerChoice(options.worker, onEvent);
  const charge = main({ ...options, choice, sandboxSockets: sandboxes.sockets, hostSocket: hostSocket(home.run) });
  const events = { onLine: (line: string) => onLine(charge.name, line), onEvent, onGiveUp: onMainLost };
  const prepare = async () => {
    // Whatever a main that is gone had them do must not go on beside the next one.
    await Promise.all([sandboxes.clear(), charge.prepare()]);
  };
  const leader = supervise({ ...charge, ...events, prepare, retry: false }, limits);

  let starting: ReturnType<typeof setTimeout> | undefined;
  // Tries before the first answer are no restarts: the port that was free a moment ago may have been taken.
  let tries = 0;

  return {
    async startMain() {
      await leader.start();
      tries = leader.status().restarts;
    },
    startSlots() {
      starting = setTimeout(sandboxes.start, headStart);
    },
    port: charge.port,
    status() {
      const worker = choice.current()?.label;
      const { pid, restarts } = leader.status();
      return {
        pid: process.pid,
        startedAt: options.startedAt,
        main: { restarts: restarts - tries, ...(pid ? { pid } : {}), ...(worker ? { worker } : {}) },
        slots: sandboxes.status(),
      };
    },
    renewSlot: sandboxes.renew,
    workers: choice.kept,
    async renewMain(worker, drainMs) {
      choice.use(worker);
      await leader.renew(drainMs);
    },
    async stop(drainMs) {
      clearTimeout(starting);
      // Main may need the slots to finish what it is doing.
      await leader.stop(drainMs);
      await sandboxes.stop();
    },
  };
}

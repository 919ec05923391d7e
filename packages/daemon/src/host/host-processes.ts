import { join } from "node:path";
import type { HostStatus, SlotRenewal } from "@thinkery/sdk/internal";
import type { Limits } from "./limits.ts";
import { createMainChild, type MainOptions } from "./main.ts";
import { createSlots } from "./slots.ts";
import { supervise } from "./supervise.ts";
import { createWorkerChoice } from "./worker/choice.ts";
import type { InstalledWorker } from "./worker/worker.ts";

interface HostProcessesOptions extends Omit<MainOptions, "sandboxSockets" | "hostSocket" | "choice"> {
  /** In place of the stock Worker. */
  worker: InstalledWorker | undefined;
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
interface HostProcesses {
  /** Resolves when main answers. */
  startMain(): Promise<void>;
  /** Apart, so that main has the machine to itself while somebody waits for it. */
  startSlots(): void;
  /** Where main listens, known once it answers. */
  getPort(): number;
  getStatus(): HostStatus;
  /** A process of a slot that is ready for code, in place of one that is gone or has to go. */
  renewSlot(index: number, generation: number, lost: boolean): Promise<SlotRenewal>;
  /** Workers of one's own that main may still be started with. */
  listWorkers(): InstalledWorker[];
  /** Main again, with another Worker; with the one before when it cannot run. */
  renewMain(worker: InstalledWorker, drainMs: number): Promise<void>;
  stop(drainMs: number): Promise<void>;
}

/** Whoever started the host has a first question for main; nobody needs a sandbox that soon. */
const headStartMs = 300;

export function getHostSocket(run: string): string {
  return join(run, "host.sock");
}

export function createHostProcesses(options: HostProcessesOptions): HostProcesses {
  const { home, parts, limits, onLine, onEvent, onMainLost } = options;

  const sandboxes = createSlots({ ...options, count: options.slots, modules: parts.sandbox });
  const choice = createWorkerChoice(options.worker, onEvent);
  const mainChild = createMainChild({
    ...options,
    choice,
    sandboxSockets: sandboxes.sockets,
    hostSocket: getHostSocket(home.run),
  });
  const events = { onLine: (line: string) => onLine(mainChild.name, line), onEvent, onGiveUp: onMainLost };
  const prepare = async () => {
    // Whatever a main that is gone had them do must not go on beside the next one.
    await Promise.all([sandboxes.clear(), mainChild.prepare()]);
  };
  const mainSupervisor = supervise({ ...mainChild, ...events, prepare, canRetry: false }, limits);

  let starting: ReturnType<typeof setTimeout> | undefined;
  // Tries before the first answer are no restarts: the port that was free a moment ago may have been taken.
  let tries = 0;

  return {
    async startMain() {
      await mainSupervisor.start();
      tries = mainSupervisor.getStatus().restarts;
    },
    startSlots() {
      starting = setTimeout(sandboxes.start, headStartMs);
    },
    getPort: mainChild.port,
    getStatus() {
      const worker = choice.getCurrent()?.label;
      const { pid, restarts } = mainSupervisor.getStatus();
      return {
        pid: process.pid,
        startedAt: options.startedAt,
        main: { restarts: restarts - tries, ...(pid ? { pid } : {}), ...(worker ? { worker } : {}) },
        slots: sandboxes.status(),
      };
    },
    renewSlot: sandboxes.renew,
    listWorkers: choice.listUsable,
    async renewMain(worker, drainMs) {
      choice.use(worker);
      await mainSupervisor.renew(drainMs);
    },
    async stop(drainMs) {
      clearTimeout(starting);
      // Main may need the slots to finish what it is doing.
      await mainSupervisor.stop(drainMs);
      await sandboxes.stop();
    },
  };
}

import { join } from "node:path";
import type { HostStatus, SlotRenewal } from "@thinkery/sdk/internal";
import type { Limits } from "./limits.ts";
import { createMainChild, type MainOptions } from "./main.ts";
import { createSlots } from "./slots.ts";
import { supervise } from "./supervise.ts";
import { createWorkerChoice } from "./worker/choice.ts";
import type { InstalledWorker } from "./worker/worker.ts";

interface HostProcessesOptions extends Omit<MainOptions, "sandboxSockets" | "hostSocket" | "choice"> {
  /** Replaces the stock Worker. */
  worker: InstalledWorker | undefined;
  slots: number;
  agentSlots: number;
  limits: Partial<Limits> | undefined;
  /** A line of output from one of the processes. */
  onLine(source: string, line: string): void;
  /** A message about the lifecycle of a process. */
  onEvent(text: string): void;
  /** Called when main will not be started again. */
  onMainLost(reason: string): void;
}

/** The child processes of a host: main and the sandbox slots. */
interface HostProcesses {
  /** Resolves when main responds. */
  startMain(): Promise<void>;
  /** Separate from `startMain`, so that main starts faster. */
  startSlots(): void;
  /** The port main listens on; final once main has responded. */
  getPort(): number;
  getStatus(): HostStatus;
  /** Replaces the process of a slot; resolves when the new one is ready for code. */
  renewSlot(index: number, generation: number, lost: boolean): Promise<SlotRenewal>;
  /** Custom Workers that main may still be started with. */
  listWorkers(): InstalledWorker[];
  /** Restarts main with another Worker, falling back to the previous one if it cannot run. */
  renewMain(worker: InstalledWorker, drainMs: number): Promise<void>;
  stop(drainMs: number): Promise<void>;
}

/** Delay before the slots start: the first request to main comes right away, sandboxes are needed later. */
const headStartMs = 300;

export function getHostSocket(run: string): string {
  return join(run, "host.sock");
}

export function createHostProcesses(options: HostProcessesOptions): HostProcesses {
  const { home, parts, limits, onLine, onEvent, onMainLost } = options;

  const sandboxes = createSlots({
    ...options,
    count: options.slots,
    agentCount: options.agentSlots,
    modules: parts.sandbox,
  });
  const choice = createWorkerChoice(options.worker, onEvent);
  const mainChild = createMainChild({
    ...options,
    choice,
    sandboxSockets: sandboxes.sockets,
    hostSocket: getHostSocket(home.run),
  });
  const events = { onLine: (line: string) => onLine(mainChild.name, line), onEvent, onGiveUp: onMainLost };
  const prepare = async () => {
    // Code started by a previous main must not keep running beside the new one.
    await Promise.all([sandboxes.clear(), mainChild.prepare()]);
  };
  const mainSupervisor = supervise({ ...mainChild, ...events, prepare, canRetry: false }, limits);

  let starting: ReturnType<typeof setTimeout> | undefined;
  // Attempts before main first responds do not count as restarts: its port may have been taken in the meantime.
  let initialAttempts = 0;

  return {
    async startMain() {
      await mainSupervisor.start();
      initialAttempts = mainSupervisor.getStatus().restarts;
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
        main: { restarts: restarts - initialAttempts, ...(pid ? { pid } : {}), ...(worker ? { worker } : {}) },
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
      // Main may need the slots to finish its running work.
      await mainSupervisor.stop(drainMs);
      await sandboxes.stop();
    },
  };
}

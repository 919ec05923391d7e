import { type CodeResult, isThinkeryError, ToolError, type ToolErrorCode } from "@thinkery/sdk";
import { type SandboxLimits, sandboxLimitsSchema, type SlotRenewal } from "@thinkery/sdk/internal";
import type { Service } from "../host/host.ts";
import { type CommandBridge, runSearch, runShellCommand } from "./command.ts";
import { isOutOfMemory } from "./out-of-memory.ts";
import { releaseAfterRead } from "./release-after-read.ts";
import { openRunBridge } from "./run-bridge.ts";
import { type Outcome, outcomeSchema, type SandboxService } from "./run.ts";
import type { NestedSandbox, SandboxRunOptions, Sandbox, SandboxShellOptions } from "./sandbox.ts";
import { openShellBridge } from "./shell-bridge.ts";
import { SlotClient, type SlotLease } from "./slot-client.ts";
import type { SlotPool } from "./slot-pool.ts";
import type { LeaseTerms } from "./slots.ts";

export interface SandboxEnv {
  HOST?: Service;
  /** Who has which slot, for all isolates of main. The slots themselves are bound as `SANDBOX_0`, `SANDBOX_1`, … */
  SLOT_POOL?: { getByName(name: string): SlotPool };
  /** Where there is no daemon: a Worker with a Worker Loader, whose limits the platform enforces. */
  SANDBOX?: SandboxService;
  SANDBOX_LIMITS?: SandboxLimits;
}

/** Gives one run its sandbox: a slot of this host, or a Worker that takes any number of runs. */
type AcquireLease = (terms: LeaseTerms) => Promise<SlotLease>;

/** The slots of this host; undefined if it has none. */
export function createSlotClient(env: SandboxEnv): SlotClient | undefined {
  return (
    env.SLOT_POOL &&
    new SlotClient(env.SLOT_POOL, (index) => (env as Record<string, unknown>)[`SANDBOX_${index}`] as SandboxService)
  );
}

export function openSandbox(env: SandboxEnv): Sandbox {
  const limits = getSandboxLimits(env);
  const lease = createAcquireLease(env);
  return {
    limits,
    async run(job, terms) {
      const began = Date.now();
      const { value, end } = await runInSandbox(
        { lease, limits, terms, what: "run", open: createBridgeOpener(terms) },
        (service, door) => service.run(job, door),
      );
      const outcome = outcomeSchema.safeParse(value);
      end(outcome.success && !outcome.data.ok && isOutOfMemory(outcome.data.message));
      dispose(value);
      if (!outcome.success) throw new ToolError("sandbox_lost", "The sandbox did not say what came of the run.");
      return toCodeResult(outcome.data, Date.now() - began);
    },
    async serve(app, request, terms) {
      const { value, end } = await runInSandbox(
        { lease, limits, terms, what: "run", shared: true, open: createBridgeOpener(terms) },
        (service, door) => service.serve(app, request, door),
      );
      return releaseAfterRead(value, terms.timeoutMs, () => end());
    },
    shell(given, terms) {
      const { agent, timeoutMs } = terms;
      let hasReachedOut = false;
      const { fetch } = given;
      const order = fetch ? { ...given, fetch: (input: string) => ((hasReachedOut = true), fetch(input)) } : given;
      return retryIfLost(
        async () => {
          // A command that takes too long is ended by the shell itself, as long as that can.
          const { value, end } = await runInSandbox(
            { lease, limits, terms, what: "command", graceMs, open: () => openShellBridge(order) },
            (service, door) => runShellCommand(service, door, order, agent, timeoutMs),
          );
          end();
          return value;
        },
        () => !hasReachedOut,
      );
    },
    search(order, terms) {
      return retryIfLost(async () => {
        const { value, end } = await runInSandbox(
          { lease, limits, terms, what: "search", open: () => openShellBridge({ files: order.files }) },
          (service, door) => runSearch(service, door, order, terms.agent),
        );
        end();
        return value;
      });
    },
  };
}

/** What a command does is only told, not done. So one that was lost with its sandbox, for no fault of its own, is begun anew. */
async function retryIfLost<T>(work: () => Promise<T>, isHarmless = () => true): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== "sandbox_lost" || !isHarmless()) throw error;
    return work();
  }
}

/** What code in a sandbox holds of main. */
const createBridgeOpener =
  ({ call, onConsole, agent }: SandboxRunOptions) =>
  (service: SandboxService) =>
    openRunBridge({ call: (name, input) => call(name, input, createNestedSandbox(service, agent)), onConsole });

/** What a shell has to end a command that is out of time, before its sandbox is. */
const graceMs = 5000;

/** The same sandbox for what code asks for while it is in it: with one slot, waiting for another would never end. */
function createNestedSandbox(service: SandboxService, agent: string): NestedSandbox {
  const runWithBridge = async <T>(
    opened: ReturnType<typeof openShellBridge>,
    work: (door: CommandBridge) => Promise<T>,
  ) => {
    try {
      return await work(opened.door);
    } catch (error) {
      throw error instanceof ToolError
        ? error
        : new ToolError("sandbox_lost", "The sandbox of this run is gone, and the command with it.");
    } finally {
      opened.shut();
    }
  };
  return {
    shell: (order, timeoutMs) =>
      runWithBridge(openShellBridge(order), (door) => runShellCommand(service, door, order, agent, timeoutMs)),
    search: (order) =>
      runWithBridge(openShellBridge({ files: order.files }), (door) => runSearch(service, door, order, agent)),
  };
}

function createAcquireLease(env: SandboxEnv): AcquireLease {
  const pool = createSlotClient(env);
  if (pool) return (terms) => pool.lease(terms);
  const { SANDBOX: service } = env;
  if (service) return async () => ({ service, release() {}, lose: async () => undefined });
  const why = env.HOST
    ? "The host was started without sandboxes. Set sandboxSlots in its configuration."
    : "Nothing here is bound as SANDBOX.";
  return () => Promise.reject(new ToolError("no_sandbox", `There is no sandbox to run code in. ${why}`));
}

interface SandboxResult<T> {
  value: T;
  /** The sandbox is needed no longer; nor by anybody, if it is spent. */
  end(isSpent?: boolean): void;
}

/** What something in a sandbox holds of main. */
interface OpenedBridge<Door> {
  door: Door;
  shut(): void;
  console(): string;
}

interface SandboxTask<Door> {
  lease: AcquireLease;
  limits: SandboxLimits;
  terms: SandboxShellOptions;
  what: TaskKind;
  shared?: boolean;
  /** How much longer main waits than it says. */
  graceMs?: number;
  open(service: SandboxService): OpenedBridge<Door>;
}

type TaskKind = "run" | "command" | "search";

/** Has something done in a sandbox, and makes sure that nothing of it is left when its time is over. */
async function runInSandbox<T, Door>(
  { lease, limits, terms, what, shared = false, graceMs = 0, open }: SandboxTask<Door>,
  work: (service: SandboxService, door: Door) => Promise<T>,
): Promise<SandboxResult<T>> {
  const { agent, timeoutMs, waitMs = limits.queueTimeoutSeconds * 1000, signal, onPlace, onBegin } = terms;
  // An answer may be read for as long as it took to begin.
  const maxMs = (shared ? 2 * timeoutMs : timeoutMs) + graceMs;
  const held = await lease({ agent, shared, maxMs, waitMs, signal, onPlace }).catch((error: unknown) => {
    throw isThinkeryError(error) ? new ToolError("no_sandbox", error.message) : error;
  });
  onBegin?.();
  const { door, shut, console } = open(held.service);
  const time = createTimeLimit(timeoutMs + graceMs, signal);
  const working = work(held.service, door);
  const end = (isSpent?: boolean) => {
    shut();
    dispose(working);
    held.release(isSpent);
  };
  try {
    return { value: await Promise.race([working, time.over]), end };
  } catch (error) {
    shut();
    dispose(working);
    if (error === time.reached || signal.aborted) {
      // Whoever waits for the answer need not wait for the next process too.
      held.lose(false).catch(() => {});
      throw error === time.reached
        ? createToolFailure(
            "timeout",
            `The ${what} took more than ${formatSeconds(timeoutMs)} and was ended.`,
            console(),
          )
        : signal.reason;
    }
    // It has told itself what went wrong.
    if (error instanceof ToolError) {
      held.release(isOutOfMemory(error.message));
      throw error;
    }
    throw createLostError(await held.lose(true).catch(() => undefined), what, limits, console());
  } finally {
    time.clear();
  }
}

/** What came over RPC is kept by both sides until somebody says that it is needed no more. */
function dispose(received: unknown): void {
  (received as Partial<Disposable> | undefined)?.[Symbol.dispose]?.();
}

function createTimeLimit(ms: number, signal: AbortSignal) {
  const reached = new Error("out of time");
  let clear = () => {};
  const over = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(reached), ms);
    const abort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    clear = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    };
  });
  // It may be that nobody listens any more.
  over.catch(() => {});
  return { reached, over, clear: () => clear() };
}

function createLostError(
  ended: SlotRenewal["ended"],
  what: TaskKind,
  { memoryMb, stallTimeoutSeconds }: SandboxLimits,
  console: string,
): ToolError {
  if (ended === "memory")
    return createToolFailure(
      "limit",
      `The ${what} used more memory than it may have (${memoryMb} MB), and its sandbox was ended.`,
      console,
    );
  if (ended === "cpu")
    return createToolFailure(
      "limit",
      `The ${what} used more time of the processor than it may have, and its sandbox was ended.`,
      console,
    );
  if (ended === "silence")
    return createToolFailure(
      "timeout",
      `The ${what} kept its sandbox busy without a pause for more than ${stallTimeoutSeconds} s and was ended.`,
      console,
    );
  if (what !== "run")
    return createToolFailure(
      "sandbox_lost",
      `The sandbox of this ${what} is gone, and the ${what} with it. No file was changed. It may be tried again.`,
      console,
    );
  return createToolFailure(
    "sandbox_lost",
    "The sandbox of this run is gone, and the run with it. What it had done by then is done. It may be run again.",
    console,
  );
}

function toCodeResult(outcome: Outcome, ms: number): CodeResult {
  if (!outcome.ok) throw createToolFailure(outcome.kind, outcome.message, outcome.console);
  return { console: outcome.console.trimEnd(), ms, ...(outcome.value === undefined ? {} : { value: outcome.value }) };
}

function createToolFailure(errorCode: ToolErrorCode, message: string, console: string): ToolError {
  return new ToolError(errorCode, console ? `${message}\n\nconsole:\n${console.trimEnd()}` : message);
}

function formatSeconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
}

function getSandboxLimits({ SANDBOX_LIMITS }: SandboxEnv): SandboxLimits {
  return SANDBOX_LIMITS ?? sandboxLimitsSchema.parse({});
}

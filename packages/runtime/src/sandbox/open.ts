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
import type { SlotCounts, SlotKind, SlotPool } from "./slot-pool.ts";
import type { LeaseTerms } from "./slots.ts";

export interface SandboxEnv {
  HOST?: Service;
  /** Assigns slots for all isolates of main. The slots themselves are bound as `SANDBOX_0`, `SANDBOX_1`, … */
  SLOT_POOL?: { getByName(name: string): SlotPool };
  SLOT_COUNTS?: SlotCounts;
  /** Used without a daemon: a Worker with a Worker Loader, whose limits the platform enforces. */
  SANDBOX?: SandboxService;
  SANDBOX_LIMITS?: SandboxLimits;
}

/** Acquires a sandbox for one run: a slot of this host, or a Worker that takes any number of runs. */
export type AcquireLease = (terms: LeaseTerms) => Promise<SlotLease>;

/** Returns the client for this host's slots of a kind; undefined if it has no slots. */
export function createSlotClient(env: SandboxEnv, kind: SlotKind = "runs"): SlotClient | undefined {
  if (!env.SLOT_POOL || !env.SLOT_COUNTS?.[kind]) return undefined;
  return new SlotClient(
    env.SLOT_POOL,
    kind,
    (index) => (env as Record<string, unknown>)[`SANDBOX_${index}`] as SandboxService,
  );
}

export function openSandbox(env: SandboxEnv): Sandbox {
  const limits = getSandboxLimits(env);
  const lease = createAcquireLease(env);
  return {
    limits,
    async run(job, options) {
      const startedAt = Date.now();
      const { value, end } = await runInSandbox(
        { lease, limits, options, kind: "run", open: createBridgeOpener(options) },
        (service, bridge) => service.run(job, bridge),
      );
      const outcome = outcomeSchema.safeParse(value);
      end(outcome.success && !outcome.data.ok && isOutOfMemory(outcome.data.message));
      dispose(value);
      if (!outcome.success) throw new ToolError("sandbox_lost", "The sandbox returned no valid result for the run.");
      return toCodeResult(outcome.data, Date.now() - startedAt);
    },
    async serve(app, request, options) {
      const { value, end } = await runInSandbox(
        { lease, limits, options, kind: "run", shared: true, open: createBridgeOpener(options) },
        (service, bridge) => service.serve(app, request, bridge),
      );
      return releaseAfterRead(value, options.timeoutMs, () => end());
    },
    shell(request, options) {
      const { agent, timeoutMs } = options;
      let hasFetched = false;
      const { fetch } = request;
      const tracked = fetch ? { ...request, fetch: (input: string) => ((hasFetched = true), fetch(input)) } : request;
      return retryIfLost(
        async () => {
          // The shell itself ends a command that takes too long, if it still can.
          const { value, end } = await runInSandbox(
            { lease, limits, options, kind: "command", graceMs, open: () => openShellBridge(tracked) },
            (service, bridge) => runShellCommand(service, bridge, tracked, agent, timeoutMs),
          );
          end();
          return value;
        },
        () => !hasFetched,
      );
    },
    search(request, options) {
      return retryIfLost(async () => {
        const { value, end } = await runInSandbox(
          { lease, limits, options, kind: "search", open: () => openShellBridge({ files: request.files }) },
          (service, bridge) => runSearch(service, bridge, request, options.agent),
        );
        end();
        return value;
      });
    },
  };
}

/**
 * Retries once if the sandbox was lost. A command only reports its changes, so it can be repeated unless it used the
 * network.
 */
async function retryIfLost<T>(work: () => Promise<T>, canRetry = () => true): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== "sandbox_lost" || !canRetry()) throw error;
    return work();
  }
}

/** Creates what code in a sandbox gets of main. */
const createBridgeOpener =
  ({ call, onConsole, agent }: SandboxRunOptions) =>
  (service: SandboxService) =>
    openRunBridge({ call: (name, input) => call(name, input, createNestedSandbox(service, agent)), onConsole });

/** Time for a shell to end a timed-out command itself, before its sandbox is terminated. */
const graceMs = 5000;

/**
 * Lets running code use commands and searches in its own sandbox: with a single slot, it would wait for another
 * forever.
 */
function createNestedSandbox(service: SandboxService, agent: string): NestedSandbox {
  const runWithBridge = async <T>(
    opened: ReturnType<typeof openShellBridge>,
    work: (bridge: CommandBridge) => Promise<T>,
  ) => {
    try {
      return await work(opened.bridge);
    } catch (error) {
      throw error instanceof ToolError
        ? error
        : new ToolError("sandbox_lost", "The sandbox of this run was lost, and the command with it.");
    } finally {
      opened.close();
    }
  };
  return {
    shell: (request, timeoutMs) =>
      runWithBridge(openShellBridge(request), (bridge) => runShellCommand(service, bridge, request, agent, timeoutMs)),
    search: (request) =>
      runWithBridge(openShellBridge({ files: request.files }), (bridge) => runSearch(service, bridge, request, agent)),
  };
}

export function createAcquireLease(env: SandboxEnv, kind: SlotKind = "runs"): AcquireLease {
  const pool = createSlotClient(env, kind);
  if (pool) return (terms) => pool.lease(terms);
  const { SANDBOX: service } = env;
  if (service) return async () => ({ service, release() {}, lose: async () => undefined });
  const key = kind === "runs" ? "sandboxSlots" : "agentSlots";
  const reason = env.HOST
    ? `The host was started without sandboxes. Set ${key} in its configuration.`
    : "There is no binding SANDBOX.";
  return () => Promise.reject(new ToolError("no_sandbox", `There is no sandbox to run code in. ${reason}`));
}

interface SandboxResult<T> {
  value: T;
  /** Releases the sandbox. If it is spent, it is not reused. */
  end(isSpent?: boolean): void;
}

/** What a task in a sandbox gets of main, for as long as it is open. */
interface OpenedBridge<Bridge> {
  bridge: Bridge;
  close(): void;
  console(): string;
}

interface SandboxTask<Bridge> {
  lease: AcquireLease;
  limits: SandboxLimits;
  options: SandboxShellOptions;
  kind: TaskKind;
  shared?: boolean;
  /** How long main waits beyond the timeout. */
  graceMs?: number;
  open(service: SandboxService): OpenedBridge<Bridge>;
}

type TaskKind = "run" | "command" | "search";

/** Runs a task in a sandbox, and ensures that nothing of it keeps running after its timeout. */
async function runInSandbox<T, Bridge>(
  { lease, limits, options, kind, shared = false, graceMs = 0, open }: SandboxTask<Bridge>,
  work: (service: SandboxService, bridge: Bridge) => Promise<T>,
): Promise<SandboxResult<T>> {
  const { agent, timeoutMs, waitMs = limits.queueTimeoutSeconds * 1000, signal, onPlace, onBegin } = options;
  // Reading a response may take as long again as producing it.
  const maxMs = (shared ? 2 * timeoutMs : timeoutMs) + graceMs;
  const slot = await lease({ agent, shared, maxMs, waitMs, signal, onPlace }).catch((error: unknown) => {
    throw isThinkeryError(error) ? new ToolError("no_sandbox", error.message) : error;
  });
  onBegin?.();
  const { bridge, close, console } = open(slot.service);
  const timeout = createTimeout(timeoutMs + graceMs, signal);
  const working = work(slot.service, bridge);
  const end = (isSpent?: boolean) => {
    close();
    dispose(working);
    slot.release(isSpent);
  };
  try {
    return { value: await Promise.race([working, timeout.over]), end };
  } catch (error) {
    close();
    dispose(working);
    if (error === timeout.reached || signal.aborted) {
      // The caller need not wait until the process is replaced.
      slot.lose(false).catch(() => {});
      throw error === timeout.reached
        ? createToolFailure(
            "timeout",
            `The ${kind} did not finish within ${formatSeconds(timeoutMs)} and was stopped.`,
            console(),
          )
        : signal.reason;
    }
    // The sandbox itself reported what went wrong.
    if (error instanceof ToolError) {
      slot.release(isOutOfMemory(error.message));
      throw error;
    }
    throw createLostError(await slot.lose(true).catch(() => undefined), kind, limits, console());
  } finally {
    timeout.clear();
  }
}

/** Both sides of an RPC keep a result until it is disposed. */
export function dispose(received: unknown): void {
  (received as Partial<Disposable> | undefined)?.[Symbol.dispose]?.();
}

function createTimeout(ms: number, signal: AbortSignal) {
  const reached = new Error("timed out");
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
  // Possibly nobody awaits it any more.
  over.catch(() => {});
  return { reached, over, clear: () => clear() };
}

function createLostError(
  ended: SlotRenewal["ended"],
  kind: TaskKind,
  { memoryMb, stallTimeoutSeconds }: SandboxLimits,
  console: string,
): ToolError {
  if (ended === "memory")
    return createToolFailure(
      "limit",
      `The ${kind} exceeded its memory limit of ${memoryMb} MB, so its sandbox was stopped.`,
      console,
    );
  if (ended === "cpu")
    return createToolFailure("limit", `The ${kind} exceeded its CPU time limit, so its sandbox was stopped.`, console);
  if (ended === "silence")
    return createToolFailure(
      "timeout",
      `The ${kind} blocked its sandbox for more than ${stallTimeoutSeconds} s and was stopped.`,
      console,
    );
  if (kind !== "run")
    return createToolFailure(
      "sandbox_lost",
      `The sandbox of this ${kind} was lost, and the ${kind} with it. No file was changed. You can try again.`,
      console,
    );
  return createToolFailure(
    "sandbox_lost",
    "The sandbox of this run was lost, and the run with it. Effects that it already had are not undone. You can run it again.",
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

export function getSandboxLimits({ SANDBOX_LIMITS }: SandboxEnv): SandboxLimits {
  return SANDBOX_LIMITS ?? sandboxLimitsSchema.parse({});
}

import { isThinkeryError, ToolError } from "@thinkery/sdk";
import type { SandboxLimits, SlotRenewal } from "@thinkery/sdk/internal";
import { type AgentBridgeOptions, openAgentBridge } from "./agent-bridge.ts";
import { type AgentOutcome, agentOutcomeSchema, type AgentRequest } from "./agent-run.ts";
import { maxValueChars } from "./bounds.ts";
import { createAcquireLease, createSlotClient, dispose, getSandboxLimits, type SandboxEnv } from "./open.ts";
import { isOutOfMemory } from "./out-of-memory.ts";
import type { LeaseTerms } from "./slots.ts";

/** Whose code handles a request, and what it may call. */
export interface AgentSandboxOptions extends AgentBridgeOptions {
  /** All agents of an owner may share a process; those of different owners never do. */
  owner: string;
  /** Runs in a process without other agents, to find the one that ends processes. */
  isAlone?: boolean;
  /** A running request of the same owner waits for this one, which therefore must not wait for its process to drain. */
  isAwaited?: boolean;
  /** Interrupts the code, and stops waiting for it. */
  signal: AbortSignal;
  /** How long to wait for a process; defaults to the host's limit. */
  waitMs?: number;
}

/** The process that the agents of an owner share. */
export interface AgentProcess {
  memoryBytes?: number;
  /** Isolates that are loaded. An agent has one for each version of its code that ran. */
  agents: number;
}

/** The sandboxes of user agents: the only way to run their code. */
export interface AgentSandbox {
  /** Lets an agent's code handle a request. Throws a `ProcessLostError` if its process ended meanwhile. */
  send(request: AgentRequest, options: AgentSandboxOptions): Promise<AgentOutcome>;
  /** Returns undefined if no process runs, or if there are no processes of our own. */
  describe(owner: string): Promise<AgentProcess | undefined>;
  /**
   * Ends the processes of an owner at once, so that nothing is left for another one of the same name. With an agent, only
   * those of its own: no other agent ever has its id, and so its isolates in the owner's shared process.
   */
  forget(owner: string, agentId?: string): Promise<void>;
}

/** The process of an agent's code ended during its request, for whatever reason. */
export class ProcessLostError extends Error {
  override readonly name = "ProcessLostError";
  readonly ended: NonNullable<SlotRenewal["ended"]>;

  constructor(ended: SlotRenewal["ended"] = "crash") {
    super("The process of the agent's code ended.");
    this.ended = ended;
  }
}

/** A handler may wait for people and models, so this only bounds leases whose holder vanished unnoticed. */
const maxLeaseMs = 24 * 3600 * 1000;
/** How long interrupted code may take to end by itself. */
const interruptGraceMs = 1000;

export function openAgentSandbox(env: SandboxEnv): AgentSandbox {
  const limits = getSandboxLimits(env);
  const acquire = createAcquireLease(env, "agents");
  const pool = createSlotClient(env, "agents");
  return {
    async send(request, options) {
      const { signal } = options;
      signal.throwIfAborted();
      // A message that is too large for RPC would fail as if the process were lost.
      if (request.payload.length > maxValueChars)
        throw new Error(
          `The request to the agent has ${request.payload.length} characters; the limit is ${maxValueChars}.`,
        );
      const slot = await acquire(createTerms(request, options, limits)).catch((error: unknown) => {
        throw isThinkeryError(error) ? new ToolError("no_sandbox", error.message) : error;
      });
      const { bridge, interrupt, close } = openAgentBridge(options);
      const working = slot.service.agent(request, bridge);
      const interrupted = watchInterrupt(signal, interrupt);
      const ended = await Promise.race([
        working.then(
          (value) => ({ value }),
          () => "lost" as const,
        ),
        interrupted.isIgnored,
      ]);
      interrupted.clear();
      close();
      dispose(working);
      if (ended === "ignored") {
        slot.release();
        throw signal.reason;
      }
      if (ended === "lost") {
        const losing = slot.lose(true).catch(() => undefined);
        signal.throwIfAborted();
        throw new ProcessLostError(await losing);
      }
      const outcome = agentOutcomeSchema.safeParse(ended.value);
      slot.release(outcome.success && !outcome.data.ok && isOutOfMemory(outcome.data.message));
      if (!outcome.success) throw new ToolError("sandbox_lost", "The agent's code responded with no valid result.");
      return outcome.data;
    },
    async describe(owner) {
      const process = await pool?.describe(owner);
      if (!process) return undefined;
      const { isolates, ...rest } = process;
      return { ...rest, agents: isolates };
    },
    forget: async (owner, agentId) => pool?.forget(owner, agentId === undefined ? undefined : `${agentId}.`),
  };
}

function createTerms(
  { isolateId }: AgentRequest,
  { owner, isAlone, isAwaited = false, signal, waitMs }: AgentSandboxOptions,
  { queueTimeoutSeconds }: SandboxLimits,
): LeaseTerms {
  return {
    agent: owner,
    ...(isAlone ? { partition: isolateId ?? crypto.randomUUID() } : {}),
    ...(isolateId === undefined ? {} : { isolate: isolateId }),
    shared: true,
    isAwaited,
    maxMs: maxLeaseMs,
    waitMs: waitMs ?? queueTimeoutSeconds * 1000,
    signal,
    onPlace() {},
  };
}

/** Interrupts the code when the signal is aborted, and resolves if it does not end soon after. */
function watchInterrupt(signal: AbortSignal, interrupt: (reason: string) => void) {
  const { promise, resolve } = Promise.withResolvers<"ignored">();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const abort = () => {
    const reason: unknown = signal.reason;
    interrupt(reason instanceof Error ? reason.message : "interrupted");
    timer = setTimeout(() => resolve("ignored"), interruptGraceMs);
  };
  signal.addEventListener("abort", abort, { once: true });
  return {
    isIgnored: promise,
    clear() {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}

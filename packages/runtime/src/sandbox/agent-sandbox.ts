import { isThinkeryError, ToolError } from "@thinkery/sdk";
import type { SlotRenewal } from "@thinkery/sdk/internal";
import { type AgentBridgeOptions, openAgentBridge } from "./agent-bridge.ts";
import { type AgentOutcome, agentOutcomeSchema, type AgentRequest } from "./agent-run.ts";
import { createAcquireLease, dispose, getSandboxLimits, type SandboxEnv } from "./open.ts";
import { isOutOfMemory } from "./out-of-memory.ts";

/** Whose code handles a request, and what it may call. */
interface AgentSandboxOptions extends AgentBridgeOptions {
  /** All agents of an owner may share a process; those of different owners never do. */
  owner: string;
  /** Runs in a process without other agents, to find the one that ends processes. */
  isAlone?: boolean;
  /** Interrupts the code, and stops waiting for it. */
  signal: AbortSignal;
  /** How long to wait for a process; defaults to the host's limit. */
  waitMs?: number;
}

/** The sandboxes of user agents: the only way to run their code. */
interface AgentSandbox {
  /** Lets an agent's code handle a request. Throws a `ProcessLostError` if its process ended meanwhile. */
  send(request: AgentRequest, options: AgentSandboxOptions): Promise<AgentOutcome>;
}

/** The process of an agent's code ended during its request, for whatever reason. */
class ProcessLostError extends Error {
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
  return {
    async send(request, options) {
      const { owner, isAlone, signal, waitMs = limits.queueTimeoutSeconds * 1000 } = options;
      signal.throwIfAborted();
      const agent = isAlone ? `${owner} ${request.isolateId}` : owner;
      const terms = { agent, shared: true, maxMs: maxLeaseMs, waitMs, signal, onPlace() {} };
      const slot = await acquire(terms).catch((error: unknown) => {
        throw isThinkeryError(error) ? new ToolError("no_sandbox", error.message) : error;
      });
      const { bridge, interrupt, close } = openAgentBridge(options);
      const working = slot.service.agent(request, bridge);
      const interrupted = rejectAfterInterrupt(signal, interrupt);
      const answered = await Promise.race([working, interrupted.rejection]).then(
        (value) => ({ value }),
        () => undefined,
      );
      interrupted.clear();
      close();
      dispose(working);
      if (!answered && signal.aborted) {
        slot.release();
        throw signal.reason;
      }
      if (!answered) throw new ProcessLostError(await slot.lose(true).catch(() => undefined));
      const outcome = agentOutcomeSchema.safeParse(answered.value);
      slot.release(outcome.success && !outcome.data.ok && isOutOfMemory(outcome.data.message));
      if (!outcome.success) throw new Error("The agent's sandbox returned no valid result.");
      return outcome.data;
    },
  };
}

/** Interrupts the code when the signal is aborted, and rejects if it does not end soon after. */
function rejectAfterInterrupt(signal: AbortSignal, interrupt: (reason: string) => void) {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  let timer: ReturnType<typeof setTimeout> | undefined;
  const abort = () => {
    const reason: unknown = signal.reason;
    interrupt(reason instanceof Error ? reason.message : "interrupted");
    timer = setTimeout(() => reject(reason as Error), interruptGraceMs);
  };
  signal.addEventListener("abort", abort, { once: true });
  return {
    rejection: promise,
    clear() {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}

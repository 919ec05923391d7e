import { type Capability, reduceCapability } from "../client/capability.ts";
import { roundUsd } from "../internal/round-usd.ts";
import type { Outcome } from "../protocol/turn.ts";
import type { SubagentEvent } from "./subagents.ts";
import type { ConversationUpdate, TurnEnd } from "./update.ts";

type TurnCall = Outcome["toolCalls"][number];

/** The state of one turn, computed from the log. */
export interface TurnState {
  readonly runId: string;
  /** The message that the model is writing. It has no id if it started before we connected. */
  readonly draft?: { readonly messageId?: string; readonly text: string; readonly reasoning: string } | undefined;
  /** The text of the last completed message. */
  readonly text: string;
  readonly calls: ReadonlyMap<string, TurnCall>;
  /** Calls made by code that have no result yet. */
  readonly openCapabilities: ReadonlyMap<string, Capability>;
  readonly usage: Outcome["usage"];
  /** What the turn's sub-agents have spent, by task. */
  readonly subagents: ReadonlyMap<string, Outcome["usage"]>;
  readonly end?: TurnEnd | undefined;
}

const noUsage: Outcome["usage"] = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

export function createTurnState(runId: string): TurnState {
  return { runId, text: "", calls: new Map(), openCapabilities: new Map(), usage: noUsage, subagents: new Map() };
}

/** Applies an update from the log. Returns the same turn if the update belongs to another one. */
export function reduceTurn(turn: TurnState, update: ConversationUpdate): TurnState {
  if (update.kind === "subagent") return reduceSubagent(turn, update.event);
  if (!("runId" in update) || update.runId !== turn.runId) return turn;
  switch (update.kind) {
    case "draft-started":
      return { ...turn, draft: { messageId: update.messageId, text: "", reasoning: "" } };
    case "draft-text": {
      const draft = turn.draft ?? { text: "", reasoning: "" };
      return {
        ...turn,
        draft: { ...draft, text: draft.text + update.text, reasoning: draft.reasoning + update.reasoning },
      };
    }
    case "draft-discarded":
      return turn.draft ? { ...turn, draft: undefined } : turn;
    case "message-completed": {
      const calls = new Map(turn.calls);
      for (const call of update.calls) calls.set(call.id, call);
      return { ...turn, draft: undefined, text: turn.draft?.text ?? "", calls };
    }
    case "call-settled": {
      const { callId: id, name, result } = update;
      const call = turn.calls.get(id) ?? { id, name, input: undefined };
      const settled = { ...call, output: result.output, ...(result.failed ? { failed: true } : {}) };
      return { ...turn, calls: new Map(turn.calls).set(id, settled) };
    }
    case "capability": {
      const { callId } = update.event.data;
      const capability = reduceCapability(turn.openCapabilities.get(callId), update.event);
      const openCapabilities = new Map(turn.openCapabilities);
      if (capability.state === "running") openCapabilities.set(callId, capability);
      else openCapabilities.delete(callId);
      return { ...turn, openCapabilities };
    }
    case "usage":
      return { ...turn, usage: addUsage(turn.usage, update.usage) };
    case "turn-ended":
      return { ...turn, end: update.end };
    default:
      return turn;
  }
}

/** Counts what the sub-agents that the turn delegated to have spent. */
function reduceSubagent(turn: TurnState, { type, data }: SubagentEvent): TurnState {
  const { taskId } = data;
  const isOwn = type === "subagent.spawned" ? data.runId === turn.runId : turn.subagents.has(taskId);
  const usage = type === "subagent.spawned" ? noUsage : "usage" in data ? data.usage : undefined;
  return isOwn && usage ? { ...turn, subagents: new Map(turn.subagents).set(taskId, usage) } : turn;
}

/**
 * Returns the outcome, or undefined if the turn has not ended. Includes an unfinished message unless it was discarded.
 */
export function toOutcome(turn: TurnState, agent: string): Outcome | undefined {
  const { runId, end, draft, text, calls, subagents } = turn;
  if (!end) return undefined;
  const lastText = draft?.text || text;
  const usage = Array.from(subagents.values()).reduce(addUsage, turn.usage);
  const common = { runId, agent, toolCalls: Array.from(calls.values()), usage };
  if (end.status === "completed") return { ...common, status: "completed", content: end.result ?? lastText };
  if (end.status === "canceled") return { ...common, status: "canceled", content: lastText };
  return { ...common, status: "error", content: lastText, failure: { code: "internal", ...end.failure } };
}

function addUsage(total: Outcome["usage"], more: Outcome["usage"]): Outcome["usage"] {
  const cached = addKnown(total.cachedInputTokens, more.cachedInputTokens);
  const reasoning = addKnown(total.reasoningTokens, more.reasoningTokens);
  return {
    inputTokens: total.inputTokens + more.inputTokens,
    outputTokens: total.outputTokens + more.outputTokens,
    ...(cached === undefined ? {} : { cachedInputTokens: cached }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
    // One unknown price makes the total unknown.
    costUsd: total.costUsd === null || more.costUsd === null ? null : roundUsd(total.costUsd + more.costUsd),
  };
}

function addKnown(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : one + (other ?? 0);
}

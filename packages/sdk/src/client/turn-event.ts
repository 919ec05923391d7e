import { createTurnState, reduceTurn, type TurnState, toOutcome } from "../conversation/turn-state.ts";
import { type ConversationUpdate, eventToUpdates, frameToUpdates } from "../conversation/update.ts";
import type { PendingApproval } from "../conversation/waits.ts";
import type { Continuation } from "../protocol/continuation.ts";
import type { AgentEvent, PauseReason } from "../protocol/event.ts";
import type { MessageToolCall } from "../protocol/message.ts";
import type { Outcome } from "../protocol/turn.ts";
import { type Capability, reduceCapability } from "./capability.ts";
import type { Progress } from "./event-log-reader.ts";

/** Something that happens in a turn. */
export type TurnEvent =
  | { type: "started"; model: string }
  | { type: "text"; text: string; messageId: string }
  | { type: "reasoning"; text: string; messageId: string }
  /** Discard the text of this message so far: the provider failed or the host crashed, and the message starts over. */
  | { type: "discarded"; messageId: string }
  | { type: "tool_call"; call: MessageToolCall }
  /** Progress of a running call, to append to earlier progress. It is sent live only and not stored. */
  | { type: "progress"; callId: string; text: string }
  /** Code that a tool call runs has made a call. Sent again when that call returns. */
  | { type: "capability"; callId: string; capability: Capability }
  | { type: "tool_result"; callId: string; name: string; output: string; failed?: true }
  | { type: "retrying"; error: string; attempt: number; inMs: number }
  /** A hook failed. What it changed is rolled back, and the turn continues. */
  | { type: "middleware_failed"; name: string; hook: string; error: string }
  /** Calls need a person's approval; the turn waits for it. */
  | { type: "approval"; approval: PendingApproval }
  /** The agent asks its user; the turn waits for the answer. */
  | { type: "question"; question: Continuation }
  | { type: "paused"; reason: PauseReason };

/** Reads the turn of one message from the log of its agent. */
export class TurnReader {
  readonly #agent: string;
  readonly #messageId: string;
  #turn: TurnState;

  constructor(agent: string, runId: string, messageId: string) {
    this.#agent = agent;
    this.#messageId = messageId;
    this.#turn = createTurnState(runId);
  }

  /** Changes if the message joined a turn that ended before taking it in. */
  get runId(): string {
    return this.#turn.runId;
  }

  get outcome(): Outcome | undefined {
    return toOutcome(this.#turn, this.#agent);
  }

  read(event: AgentEvent | Progress): TurnEvent[] {
    const updates = "seq" in event ? eventToUpdates(event) : frameToUpdates(event);
    return updates.flatMap((update) => this.#apply(update));
  }

  #apply(update: ConversationUpdate): readonly TurnEvent[] {
    const before = this.#turn;
    if (update.kind === "message-requeued" && update.messageIds.includes(this.#messageId)) {
      this.#turn = createTurnState(update.runId);
      return toDiscardEvents(before);
    }
    this.#turn = reduceTurn(before, update);
    if (!("runId" in update) || update.runId !== before.runId) return noEvents;
    return toTurnEvents(update, before);
  }
}

const noEvents: readonly TurnEvent[] = [];

/** Converts an update to turn events. `turn` is the state before the update. */
function toTurnEvents(update: ConversationUpdate, turn: TurnState): readonly TurnEvent[] {
  switch (update.kind) {
    case "turn-started":
      return [{ type: "started", model: update.model }];
    case "approval-asked":
      return [{ type: "approval", approval: update.approval }];
    case "wait-started":
      return update.continuation.kind === "input" ? [{ type: "question", question: update.continuation }] : noEvents;
    case "turn-paused":
      return [{ type: "paused", reason: update.reason }];
    case "draft-text":
      return toTextEvents(update, turn.draft?.messageId);
    case "draft-discarded":
      return toDiscardEvents(turn);
    case "retry":
      return [{ type: "retrying", error: update.error, attempt: update.attempt, inMs: update.inMs }];
    case "message-completed":
      return update.calls.map((call) => ({ type: "tool_call", call }));
    case "call-progress":
      return update.text === "" ? noEvents : [{ type: "progress", callId: update.callId, text: update.text }];
    case "call-settled": {
      const { callId, name, result } = update;
      return [
        {
          type: "tool_result",
          callId,
          name,
          output: result.output,
          ...(result.failed ? { failed: true as const } : {}),
        },
      ];
    }
    case "capability": {
      const { event, callId } = update;
      return [
        {
          type: "capability",
          callId,
          capability: reduceCapability(turn.openCapabilities.get(event.data.callId), event),
        },
      ];
    }
    case "note": {
      if (update.note.kind !== "middleware") return noEvents;
      const { middleware: name, hook, error } = update.note;
      return [{ type: "middleware_failed", name, hook, error }];
    }
    default:
      return noEvents;
  }
}

function toTextEvents(
  { text, reasoning }: { text: string; reasoning: string },
  messageId: string | undefined,
): readonly TurnEvent[] {
  // Do not emit part of a message that started before we listened.
  if (messageId === undefined) return noEvents;
  return [
    ...(reasoning ? [{ type: "reasoning", text: reasoning, messageId } as const] : []),
    ...(text ? [{ type: "text", text, messageId } as const] : []),
  ];
}

/** Discards the unfinished message, if any of its text was emitted. */
function toDiscardEvents({ draft }: TurnState): readonly TurnEvent[] {
  if (draft?.messageId === undefined || (draft.text === "" && draft.reasoning === "")) return noEvents;
  return [{ type: "discarded", messageId: draft.messageId }];
}

import type { AgentEvent, EventData } from "../protocol/event.ts";
import type { MessageToolCall } from "../protocol/message.ts";
import type { Outcome } from "../protocol/turn.ts";
import { type Capability, capabilityAfter } from "./capability.ts";
import type { Progress } from "./log.ts";
import { Tally } from "./outcome.ts";

/** What happens in a turn, one thing after the other. */
export type TurnEvent =
  | { type: "started"; model: string }
  | { type: "text"; text: string; messageId: string }
  | { type: "reasoning"; text: string; messageId: string }
  /** What this message has said so far was not said after all: its provider failed or the host did, and it is begun anew. */
  | { type: "unsaid"; messageId: string }
  | { type: "tool_call"; call: MessageToolCall }
  /** What a call shows while it goes on, after what it showed before. Told to those who look on, and kept nowhere. */
  | { type: "progress"; callId: string; text: string }
  /** Code that a call runs has called something; told again when it is answered. */
  | { type: "capability"; callId: string; capability: Capability }
  | { type: "tool_result"; callId: string; name: string; output: string; failed?: true }
  | { type: "retrying"; error: string; attempt: number; inMs: number }
  /** The turn goes on without what it did. */
  | { type: "middleware_failed"; name: string; hook: string; error: string }
  | { type: "paused"; reason: EventData["run.paused"]["reason"] };

/** Reads one turn out of an agent's log. */
export class TurnReader {
  readonly #agent: string;
  readonly #messageId: string;
  #runId: string;
  #tally: Tally;
  /** The message that is being said, and whether anything of it was told. */
  #draft: { messageId: string; told: boolean } | undefined;
  #outcome: Outcome | undefined;
  /** Calls by code that have no answer yet. */
  readonly #underWay = new Map<string, Capability>();

  constructor(agent: string, runId: string, messageId: string) {
    this.#agent = agent;
    this.#runId = runId;
    this.#messageId = messageId;
    this.#tally = new Tally(runId, agent);
  }

  /** The turn that the message is in: one that it joined may end without it. */
  get runId(): string {
    return this.#runId;
  }

  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  take(event: AgentEvent | Progress): TurnEvent[] {
    if (event.type === "tool_progress") {
      return event.runId === this.#runId && event.text !== "" ? [{ type: "progress", callId: event.callId, text: event.text }] : [];
    }
    if (event.type === "message.requeued" && event.data.messageIds.includes(this.#messageId)) {
      const left = this.#unsaid();
      this.#runId = event.data.runId;
      this.#tally = new Tally(this.#runId, this.#agent);
      return left;
    }
    if (!("runId" in event.data) || event.data.runId !== this.#runId) return [];
    this.#outcome = this.#tally.add(event);
    return this.#told(event);
  }

  #told(event: AgentEvent): TurnEvent[] {
    switch (event.type) {
      case "run.started":
        return [{ type: "started", model: event.data.model }];
      case "run.resumed":
        return this.#unsaid();
      case "middleware.failed": {
        const { middlewareName: name, hook, error } = event.data;
        return [{ type: "middleware_failed", name, hook, error }];
      }
      case "run.paused":
        return [{ type: "paused", reason: event.data.reason }];
      case "model.started":
        this.#draft = { messageId: event.data.messageId, told: false };
        return [];
      case "model.delta":
        return this.#said(event.data.reasoning, event.data.delta);
      case "model.failed": {
        const { error, attempt, retryInMs: inMs } = event.data;
        return [...this.#unsaid(), ...(inMs === undefined ? [] : [{ type: "retrying", error, attempt, inMs } as const])];
      }
      case "model.completed":
        this.#draft = undefined;
        return event.data.toolCalls.map(({ id, name, input }) => ({ type: "tool_call", call: { id, name, input } }));
      case "tool.output": {
        const { callId, toolName: name, output } = event.data;
        return [{ type: "tool_result", callId, name, output }];
      }
      case "tool.error": {
        const { callId, toolName: name, error: output } = event.data;
        return [{ type: "tool_result", callId, name, output, failed: true }];
      }
      case "capability.called":
      case "capability.answered": {
        const { callId, within } = event.data;
        const capability = capabilityAfter(this.#underWay.get(callId), event);
        if (capability.state === "running") this.#underWay.set(callId, capability);
        else this.#underWay.delete(callId);
        return [{ type: "capability", callId: within, capability }];
      }
      default:
        return [];
    }
  }

  // Words without a beginning are of a step that went before what we said.
  #said(reasoning: string | undefined, text: string | undefined): TurnEvent[] {
    if (!this.#draft) return [];
    this.#draft.told = true;
    const { messageId } = this.#draft;
    return [
      ...(reasoning ? [{ type: "reasoning", text: reasoning, messageId } as const] : []),
      ...(text ? [{ type: "text", text, messageId } as const] : []),
    ];
  }

  #unsaid(): TurnEvent[] {
    const draft = this.#draft;
    this.#draft = undefined;
    return draft?.told ? [{ type: "unsaid", messageId: draft.messageId }] : [];
  }
}

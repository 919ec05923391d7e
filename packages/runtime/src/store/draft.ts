import type { AgentEvent, EventData, Message } from "@thinkery/sdk";

/** Reasoning is truncated to this length; its full size is kept. */
const maxReasoningChars = 3000;

/** The stored part of the message that is being written: by the model in the current step, or by code. */
export interface Draft {
  runId: string;
  step: number;
  messageId: string;
  /** Empty if code writes it. */
  model: string;
  attempt: number;
  startedAt: number;
  text: string;
  reasoning: string;
  reasoningSize: number;
}

/** Returns the draft after an event; undefined after a call that failed or was interrupted. */
export function reduceDraft(draft: Draft | undefined, event: AgentEvent): Draft | undefined {
  switch (event.type) {
    case "model.started":
      return createDraft(event.data, event.ts);
    case "reply.started":
      return createDraft({ ...event.data, model: "", attempt: 1 }, event.ts);
    case "model.delta":
      return draft && extendDraft(draft, event.data.delta ?? "", event.data.reasoning ?? "");
    // A queued turn that is canceled must not affect the draft of the running one.
    case "run.canceled":
    case "agent.error":
      return draft?.runId === event.data.runId ? undefined : draft;
    case "model.completed":
    case "model.failed":
    case "reply.completed":
    case "reply.discarded":
    case "run.resumed":
    case "history.cleared":
      return undefined;
    default:
      return draft;
  }
}

function createDraft({ runId, step, messageId, model, attempt }: EventData["model.started"], startedAt: string): Draft {
  return {
    runId,
    step,
    messageId,
    model,
    attempt,
    startedAt: Date.parse(startedAt),
    text: "",
    reasoning: "",
    reasoningSize: 0,
  };
}

/** Returns the draft with more text and reasoning, whether or not that is stored yet. */
export function extendDraft(draft: Draft, text: string, reasoning: string): Draft {
  return {
    ...draft,
    text: draft.text + text,
    reasoning: (draft.reasoning + reasoning).slice(0, maxReasoningChars),
    reasoningSize: draft.reasoningSize + reasoning.length,
  };
}

export function toDraftMessage(draft: Draft, extra: Partial<Message> = {}): Message {
  return {
    id: draft.messageId,
    role: "assistant",
    status: "streaming",
    content: draft.text,
    ...(draft.reasoningSize ? { reasoning: draft.reasoning, reasoningFullSize: draft.reasoningSize } : {}),
    timestamp: draft.startedAt,
    runId: draft.runId,
    step: draft.step,
    attempt: draft.attempt,
    ...(draft.model ? { model: draft.model } : {}),
    ...extra,
  };
}

import type { BudgetStatus } from "../protocol/budget.ts";
import type { Message } from "../protocol/message.ts";
import { type Call, createCall, type CallDetails } from "./call.ts";

/**
 * `unsent`: the agent has not confirmed it. `refused`: the agent rejected it. `waiting`: it is queued. `streaming`: it
 * is being written.
 */
export type EntryStage = "unsent" | "refused" | "waiting" | "streaming" | "done" | "failed" | "canceled";

export interface EntryError {
  message: string;
  advice?: string | undefined;
  code?: string | undefined;
  /** The limit that was reached, if the code is `budget`. */
  budget?: BudgetStatus | undefined;
}

/** A message as shown to a reader. Results of tools are shown with their calls. */
export interface Entry {
  id: string;
  role: "user" | "assistant";
  stage: EntryStage;
  text: string;
  reasoning: string;
  reasoningSize: number;
  calls: readonly Call[];
  at: number;
  runId?: string | undefined;
  seq?: number | undefined;
  model?: string | undefined;
  /** It is from the host: its role is `user`, but nobody wrote it. */
  notice?: true;
  /** Why the turn failed. Set on the last entry of the turn. */
  error?: EntryError | undefined;
}

const stageByStatus: Record<Message["status"], EntryStage> = {
  pending: "waiting",
  streaming: "streaming",
  complete: "done",
  error: "failed",
  cancelled: "canceled",
};

export function createEntry(id: string, role: Entry["role"], stage: EntryStage, at: number): Entry {
  return { id, role, stage, text: "", reasoning: "", reasoningSize: 0, calls: [], at };
}

/** Converts a message to an entry, keeping what only its previous entry knows. */
export function toEntry(message: Message, details: CallDetails, before?: Entry): Entry {
  const calls = (message.toolCalls ?? []).map((call) =>
    createCall(
      call,
      details,
      before?.calls.find(({ id }) => id === call.id),
    ),
  );
  const known = new Set(calls.map(({ id }) => id));
  const error = message.error;
  return {
    id: message.id,
    role: message.role === "user" ? "user" : "assistant",
    stage: stageByStatus[message.status],
    text: message.content,
    reasoning: message.reasoning ?? "",
    reasoningSize: message.reasoningFullSize ?? message.reasoning?.length ?? 0,
    calls: [...calls, ...(before?.calls.filter(({ id }) => !known.has(id)) ?? [])],
    at: message.timestamp,
    runId: message.runId,
    seq: message.seq ?? before?.seq,
    model: message.model,
    ...(message.notice ? { notice: true } : {}),
    error: before?.error ?? (error === undefined ? undefined : { message: error }),
  };
}

import type { Attachment, Message, MessageToolCall, MessageToolResult } from "@thinkery/sdk";

export interface MessageRow extends Record<string, SqlStorageValue> {
  id: string;
  position: number | null;
  turn: string;
  step: number | null;
  role: Message["role"];
  status: Message["status"];
  content: string;
  attachments: string | null;
  tool_calls: string | null;
  tool_result: string | null;
  reasoning: string | null;
  reasoning_full_size: number | null;
  error: string | null;
  timestamp: number;
  model: string | null;
  tokens_input: number | null;
  tokens_output: number | null;
  cost_usd: number | null;
  attempt: number;
  retry_parent_id: string | null;
  replay: string | null;
  task_id: string | null;
  facet_name: string | null;
  parent_message_id: string | null;
  delegated_task_ids: string | null;
  notice: number | null;
}

/** Column values of a row that are not set. */
export const emptyRow = {
  attachments: null,
  tool_result: null,
  error: null,
  retry_parent_id: null,
  task_id: null,
  facet_name: null,
  parent_message_id: null,
  delegated_task_ids: null,
  notice: null,
} satisfies Partial<MessageRow>;

/** A message as a driver needs it to build a request to a model. */
export interface TranscriptMessage {
  position: number;
  turn: string;
  /** The step in which the model said it; undefined for messages it was given. */
  step?: number;
  role: Message["role"];
  content: string;
  attachments: Attachment[];
  toolCalls: (MessageToolCall & { malformed?: string })[];
  toolResult?: MessageToolResult;
  replay?: unknown;
  /** It is from the host, not from a person. */
  notice?: true;
}

export function toTranscriptMessage(row: MessageRow): TranscriptMessage {
  return {
    position: row.position ?? 0,
    turn: row.turn,
    ...(row.step === null ? {} : { step: row.step }),
    role: row.role,
    content: row.content,
    attachments: row.attachments ? (JSON.parse(row.attachments) as Attachment[]) : [],
    toolCalls: row.tool_calls ? (JSON.parse(row.tool_calls) as MessageToolCall[]) : [],
    ...(row.tool_result ? { toolResult: JSON.parse(row.tool_result) as MessageToolResult } : {}),
    ...(row.replay ? { replay: JSON.parse(row.replay) as unknown } : {}),
    ...(row.notice ? { notice: true } : {}),
  };
}

export function toMessage(row: MessageRow): Message {
  const message: Record<string, unknown> = {
    id: row.id,
    role: row.role,
    status: row.status,
    content: row.content,
    timestamp: row.timestamp,
    runId: row.turn,
    attempt: row.attempt,
  };
  addField(message, "seq", row.position);
  addField(message, "step", row.step);
  addField(message, "attachments", parseJson(row.attachments));
  addField(message, "toolCalls", parseJson(row.tool_calls));
  addField(message, "toolResult", parseJson(row.tool_result));
  addField(message, "reasoning", row.reasoning);
  addField(message, "reasoningFullSize", row.reasoning_full_size);
  addField(message, "error", row.error);
  addField(message, "model", row.model);
  addField(message, "tokensInput", row.tokens_input);
  addField(message, "tokensOutput", row.tokens_output);
  addField(message, "costUsd", row.cost_usd);
  addField(message, "retryParentId", row.retry_parent_id);
  // A message belongs to the root task of its turn, which has the same id.
  addField(message, "taskId", row.task_id ?? row.turn);
  addField(message, "facetName", row.facet_name);
  addField(message, "parentMessageId", row.parent_message_id);
  addField(message, "delegatedTaskIds", parseJson(row.delegated_task_ids));
  if (row.notice) message.notice = true;
  return message as Message;
}

function addField(message: Record<string, unknown>, name: string, value: unknown): void {
  if (value !== null) message[name] = value;
}

const parseJson = (text: string | null) => (text === null ? null : (JSON.parse(text) as unknown));

/** Takes at most `limit` rows and `maxChars` characters, but at least one row if there is one. */
export function takeFittingRows(
  rows: Iterable<MessageRow>,
  limit: number,
  maxChars: number,
): { taken: MessageRow[]; isComplete: boolean } {
  const taken: MessageRow[] = [];
  let size = 0;
  for (const row of rows) {
    size += row.content.length + (row.tool_calls?.length ?? 0) + (row.reasoning?.length ?? 0);
    if (taken.length === limit || (taken.length > 0 && size > maxChars)) return { taken, isComplete: false };
    taken.push(row);
  }
  return { taken, isComplete: true };
}

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
}

/** A message as a driver needs it to tell a model. */
export interface Spoken {
  position: number;
  turn: string;
  /** The step in which the model said it; none for what it was given. */
  step?: number;
  role: Message["role"];
  content: string;
  attachments: Attachment[];
  toolCalls: (MessageToolCall & { malformed?: string })[];
  toolResult?: MessageToolResult;
  replay?: unknown;
}

export function spokenOf(row: MessageRow): Spoken {
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
  };
}

export function messageOf(row: MessageRow): Message {
  const message: Record<string, unknown> = {
    id: row.id,
    role: row.role,
    status: row.status,
    content: row.content,
    timestamp: row.timestamp,
    runId: row.turn,
    attempt: row.attempt,
  };
  const present = (name: string, value: unknown) => {
    if (value !== null) message[name] = value;
  };
  const parsed = (text: string | null) => (text === null ? null : (JSON.parse(text) as unknown));
  present("seq", row.position);
  present("step", row.step);
  present("attachments", parsed(row.attachments));
  present("toolCalls", parsed(row.tool_calls));
  present("toolResult", parsed(row.tool_result));
  present("reasoning", row.reasoning);
  present("reasoningFullSize", row.reasoning_full_size);
  present("error", row.error);
  present("model", row.model);
  present("tokensInput", row.tokens_input);
  present("tokensOutput", row.tokens_output);
  present("costUsd", row.cost_usd);
  present("retryParentId", row.retry_parent_id);
  present("taskId", row.task_id);
  present("facetName", row.facet_name);
  present("parentMessageId", row.parent_message_id);
  present("delegatedTaskIds", parsed(row.delegated_task_ids));
  return message as Message;
}

/** At most so many rows and characters, but one at least where there is one. */
export function takeWhatFits(rows: Iterable<MessageRow>, limit: number, most: number): { taken: MessageRow[]; whole: boolean } {
  const taken: MessageRow[] = [];
  let size = 0;
  for (const row of rows) {
    size += row.content.length + (row.tool_calls?.length ?? 0) + (row.reasoning?.length ?? 0);
    if (taken.length === limit || (taken.length > 0 && size > most)) return { taken, whole: false };
    taken.push(row);
  }
  return { taken, whole: true };
}

import { type InboxStatus, priorities, type Priority, type SenderKind } from "@thinkery/sdk";
import type { AgentRow, ChannelRow, DeliveryRow, ItemRow, MessageRow } from "./context-store.ts";

// Rows of the tables in store/schema/team.ts, and what they stand for.

export interface StoredChannel extends Record<string, SqlStorageValue> {
  name: string;
  kind: ChannelRow["kind"];
  description: string | null;
  members: string | null;
  created_by: string;
  created_at: number;
  messages: number;
  last_message_at: number | null;
}

export interface StoredMessage extends Record<string, SqlStorageValue> {
  number: number;
  channel: string;
  sender: string;
  sender_kind: SenderKind;
  content: string;
  resource: string | null;
  size: number | null;
  recipients: string;
  thread: number | null;
  priority: number;
  created_at: number;
  replies: number;
}

export interface StoredItem extends Record<string, SqlStorageValue> {
  agent: string;
  message: number;
  status: InboxStatus;
  priority: number;
  attempts: number;
  failures: number;
  due_at: number;
  error: string | null;
  delivery: number | null;
  created_at: number;
}

export interface StoredDelivery extends Record<string, SqlStorageValue> {
  number: number;
  agent: string;
  messages: string;
  run_id: string | null;
  started_at: number;
}

export interface StoredAgent extends Record<string, SqlStorageValue> {
  agent: string;
  note: string | null;
  task: string | null;
  turns_without_progress: number;
}

/** Higher numbers are more urgent. */
export const toRank = (priority: Priority): number => priorities.indexOf(priority);

const toPriority = (rank: number): Priority => priorities[rank] ?? "normal";

export function toChannelRow(row: StoredChannel): ChannelRow {
  return {
    name: row.name,
    kind: row.kind,
    ...(row.description === null ? {} : { description: row.description }),
    ...(row.members === null ? {} : { members: JSON.parse(row.members) as string[] }),
    createdBy: row.created_by,
    createdAt: row.created_at,
    messages: row.messages,
    ...(row.last_message_at === null ? {} : { lastMessageAt: row.last_message_at }),
  };
}

export function toMessageRow(row: StoredMessage): MessageRow {
  return {
    number: row.number,
    channel: row.channel,
    from: row.sender,
    fromKind: row.sender_kind,
    content: row.content,
    ...(row.resource === null ? {} : { resource: row.resource }),
    ...(row.size === null ? {} : { size: row.size }),
    to: JSON.parse(row.recipients) as string[],
    ...(row.thread === null ? {} : { thread: row.thread }),
    priority: toPriority(row.priority),
    createdAt: row.created_at,
    replies: row.replies,
  };
}

export function toItemRow(row: StoredItem): ItemRow {
  return {
    agent: row.agent,
    message: row.message,
    status: row.status,
    priority: toPriority(row.priority),
    attempts: row.attempts,
    failures: row.failures,
    ...(row.due_at === 0 ? {} : { dueAt: row.due_at }),
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.delivery === null ? {} : { delivery: row.delivery }),
    createdAt: row.created_at,
  };
}

export function toDeliveryRow(row: StoredDelivery): DeliveryRow {
  return {
    number: row.number,
    agent: row.agent,
    messages: JSON.parse(row.messages) as number[],
    ...(row.run_id === null ? {} : { runId: row.run_id }),
    startedAt: row.started_at,
  };
}

export function toAgentRow(row: StoredAgent): AgentRow {
  return {
    agent: row.agent,
    ...(row.note === null ? {} : { note: row.note }),
    ...(row.task === null ? {} : { task: row.task }),
    turnsWithoutProgress: row.turns_without_progress,
  };
}

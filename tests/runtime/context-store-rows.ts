import type { NewItemRow, NewMessageRow } from "../../packages/runtime/src/agency/team/context-store.ts";

export const createChannel = (name: string) => ({ name, kind: "channel" as const, createdBy: "owner", createdAt: 1 });

export const createMessage = (channel: string, fields: Partial<NewMessageRow> = {}): NewMessageRow => ({
  channel,
  from: "ann",
  fromKind: "agent",
  content: "Hi",
  to: [],
  priority: "normal",
  createdAt: 1,
  ...fields,
});

export const createItem = (agent: string, message: number, fields: Partial<NewItemRow> = {}): NewItemRow => ({
  agent,
  message,
  priority: "normal",
  createdAt: 1,
  status: "pending",
  ...fields,
});

export const noItems = { pending: 0, seen: 0, deferred: 0, acked: 0, given_up: 0 };

export const conflict = { code: "conflict" };
export const notFound = { code: "not_found" };

import type { InboxStatus, Priority, SenderKind } from "@thinkery/sdk";

export interface ChannelRow {
  name: string;
  kind: "channel" | "direct";
  description?: string;
  /** The two members of a direct channel. */
  members?: string[];
  createdBy: string;
  createdAt: number;
  messages: number;
  lastMessageAt?: number;
}

export interface MessageRow {
  /** Counts all messages of the agency, in the order in which they were posted. */
  number: number;
  channel: string;
  from: string;
  fromKind: SenderKind;
  content: string;
  resource?: string;
  size?: number;
  to: string[];
  thread?: number;
  priority: Priority;
  createdAt: number;
  /** Messages that answer it. */
  replies: number;
}

export interface NewMessageRow extends Omit<MessageRow, "number" | "replies"> {
  key?: string;
}

export interface MessageFilter {
  channel?: string;
  /** This message and its answers. */
  thread?: number;
  after?: number;
  upTo?: number;
  before?: number;
  /** Epoch ms. */
  since?: number;
  until?: number;
  limit: number;
  order: "oldest" | "newest";
}

/** A message in the inbox of an agent. */
export interface ItemRow {
  agent: string;
  /** The number of the message. */
  message: number;
  status: InboxStatus;
  priority: Priority;
  attempts: number;
  /** When it comes again, if it waits. Without it, a pending item is due. */
  dueAt?: number;
  error?: string;
  /** The delivery that has it. */
  delivery?: number;
  createdAt: number;
}

export type ItemPatch = Partial<Pick<ItemRow, "status" | "attempts">> & {
  /** Null removes it. */
  dueAt?: number | null;
  error?: string | null;
  delivery?: number | null;
};

/** Items of one agent that are handled in one turn. */
export interface DeliveryRow {
  number: number;
  agent: string;
  messages: number[];
  /** Absent until the agent has accepted it. */
  runId?: string;
  startedAt: number;
}

/** What an agency remembers of one of its agents. */
export interface AgentRow {
  agent: string;
  /** What it says about itself. */
  note?: string;
  task?: string;
  /** Turns in a row in which it only wrote to others. */
  turnsWithoutProgress: number;
}

export type ItemCounts = Record<InboxStatus, number>;

/**
 * Where an agency stores its channels and inboxes. Synchronous, because what belongs together is written together. Names
 * of agents and channels are compared without case.
 */
export interface ContextStore {
  /** If the work throws, nothing of it is stored. May be nested. */
  transaction<T>(work: () => T): T;

  /** Returns channels by name. */
  listChannels(after: string, limit: number): ChannelRow[];
  findChannel(name: string): ChannelRow | undefined;
  insertChannel(channel: Omit<ChannelRow, "messages" | "lastMessageAt">): void;
  /** Deletes a channel with its messages, and their inbox items. */
  deleteChannel(name: string): void;

  /** Stores a message, and counts it in its channel and its thread. Returns its number, which is never used again. */
  insertMessage(message: NewMessageRow): number;
  findMessage(number: number): MessageRow | undefined;
  findMessageByKey(key: string): MessageRow | undefined;
  /** Returns messages in the order that the filter asks for. */
  listMessages(filter: MessageFilter): MessageRow[];

  insertItem(item: Pick<ItemRow, "agent" | "message" | "priority" | "createdAt" | "status">): void;
  findItem(agent: string, message: number): ItemRow | undefined;
  /** Returns items of an agent by message, oldest first. */
  listItems(filter: { agent: string; statuses: readonly InboxStatus[]; after: number; limit: number }): ItemRow[];
  updateItem(agent: string, message: number, patch: ItemPatch): void;
  /** Returns the agents with pending or deferred items that are due. */
  listDueAgents(now: number): string[];
  /** Returns the due items of an agent: high priority first, then oldest first. */
  listDueItems(agent: string, now: number, limit: number): ItemRow[];
  /** Returns the earliest time at which an item is due: 0 if one is due already, undefined if none will be. */
  getNextDueAt(): number | undefined;
  countItems(agent: string): ItemCounts;
  /** Whether any inbox has items that are not final. */
  hasOpenItems(): boolean;

  insertDelivery(delivery: Omit<DeliveryRow, "number" | "runId">): number;
  findDelivery(number: number): DeliveryRow | undefined;
  /** Returns the deliveries that are not closed, of one agent or all. */
  listDeliveries(agent?: string): DeliveryRow[];
  setDeliveryRun(number: number, runId: string): void;
  closeDelivery(number: number): void;

  findAgent(agent: string): AgentRow | undefined;
  /** Null removes a value. */
  putAgent(agent: string, patch: { note?: string | null; task?: string | null; turnsWithoutProgress?: number }): void;
  /** Removes everything about an agent but the messages that it wrote. */
  removeAgent(agent: string): void;
}

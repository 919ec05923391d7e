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

export type NewChannelRow = Omit<ChannelRow, "messages" | "lastMessageAt">;

export interface NewMessageRow extends Omit<MessageRow, "number" | "replies"> {
  /** Names it for repeated requests. */
  key?: string;
}

export interface MessageFilter {
  channel?: string;
  /** This message and its answers. */
  thread?: number;
  after?: number;
  upTo?: number;
  before?: number;
  /** Epoch ms: from the first message of this time or later. Exact although clocks may be set back. */
  since?: number;
  /** Epoch ms: before the first message that is later. */
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
  /** Turns that were to handle it. In some of them its agent put it off. */
  attempts: number;
  /** Those that failed. */
  failures: number;
  /** When it comes again, if it waits (epoch ms). A pending or deferred item without it is due. */
  dueAt?: number;
  error?: string;
  /** The delivery that has it. */
  delivery?: number;
  createdAt: number;
}

export type NewItemRow = Pick<ItemRow, "agent" | "message" | "priority" | "createdAt" | "status">;

export interface ItemFilter {
  agent: string;
  statuses: readonly InboxStatus[];
  /** The number of a message. */
  after: number;
  limit: number;
}

export type ItemPatch = Partial<Pick<ItemRow, "status" | "attempts" | "failures">> & {
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

export type NewDeliveryRow = Omit<DeliveryRow, "number" | "runId">;

/** What an agency remembers of one of its agents. */
export interface AgentRow {
  agent: string;
  /** What it says about itself. */
  note?: string;
  task?: string;
  /** Turns in a row in which it only wrote to others. */
  turnsWithoutProgress: number;
}

/** Null removes a value. */
export interface AgentPatch {
  note?: string | null;
  task?: string | null;
  turnsWithoutProgress?: number;
}

export type ItemCounts = Record<InboxStatus, number>;

/**
 * Where an agency stores its channels and inboxes. Synchronous, because what belongs together is written together. Names
 * of agents and channels are compared without case, and returned as they were first stored. Each method stores everything
 * or nothing.
 */
export interface ContextStore {
  /** If the work throws, nothing of it is stored. May be nested. */
  transaction<T>(work: () => T): T;

  /** Returns channels by name, those after this one. */
  listChannels(after: string, limit: number): ChannelRow[];
  findChannel(name: string): ChannelRow | undefined;
  /** Throws `conflict` if the name is taken. */
  insertChannel(channel: NewChannelRow): void;
  /**
   * Hides a channel, and deletes at most `maxMessages` of its messages with their inbox items. Returns whether nothing is left of
   * it. Until then its name stays taken. Does nothing if there is none.
   */
  deleteChannel(name: string, maxMessages: number): boolean;
  /** Returns the channels that are hidden, and not deleted yet, by name. */
  listHiddenChannels(): string[];

  /**
   * Stores a message, and counts it in its channel and its thread. Returns its number, which is never used again. Throws
   * `not_found` if its channel does not exist or has no such thread, and `conflict` if its key was used before.
   */
  insertMessage(message: NewMessageRow): number;
  findMessage(number: number): MessageRow | undefined;
  findMessageByKey(key: string): MessageRow | undefined;
  /** Returns messages in the order that the filter asks for. */
  listMessages(filter: MessageFilter): MessageRow[];

  /** The message must exist. Throws `conflict` if the agent has it already. */
  insertItem(item: NewItemRow): void;
  findItem(agent: string, message: number): ItemRow | undefined;
  /** Returns items of an agent by message, oldest first. */
  listItems(filter: ItemFilter): ItemRow[];
  /** Does nothing if there is no such item. */
  updateItem(agent: string, message: number, patch: ItemPatch): void;
  /** Returns the agents with pending or deferred items that are due, by name. */
  listDueAgents(now: number): string[];
  /** Returns the due items of an agent: high priority first, then oldest first. */
  listDueItems(agent: string, now: number, limit: number): ItemRow[];
  /** Returns when the next pending or deferred item is due after a time, if any is. */
  getNextDueAt(after: number): number | undefined;
  countItems(agent: string): ItemCounts;
  /** Whether any inbox has items that are not final. */
  hasOpenItems(): boolean;

  /** Returns its number, which is never used again. */
  insertDelivery(delivery: NewDeliveryRow): number;
  /** Returns a delivery unless it is closed. */
  findDelivery(number: number): DeliveryRow | undefined;
  /** Returns the deliveries that are not closed, of one agent or all, oldest first. */
  listDeliveries(agent?: string): DeliveryRow[];
  setDeliveryRun(number: number, runId: string): void;
  closeDelivery(number: number): void;

  findAgent(agent: string): AgentRow | undefined;
  putAgent(agent: string, patch: AgentPatch): void;
  /** Removes everything about an agent but the messages that it wrote. */
  removeAgent(agent: string): void;
}

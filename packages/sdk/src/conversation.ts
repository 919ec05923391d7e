/** A conversation with an agent as a reader sees it, kept up to date. For pages; no framework is needed. */
export type { Conversation } from "./conversation/conversation.ts";
export type { Entries } from "./conversation/entries.ts";
export type { Call, Entry, Result, Stage, Trouble } from "./conversation/entry.ts";
export { type Connection, LiveConversation, type LiveOptions, type SendOptions, type Snapshot } from "./conversation/live.ts";
export type { Note, Notes } from "./conversation/note.ts";
export type { Outbox, Unsent } from "./conversation/outbox.ts";

/** A live view of the conversation with an agent, for pages. Needs no framework; see `react` for a hook. */
export type { Capability } from "./client/capability.ts";
export type { Call, Result } from "./conversation/call.ts";
export type { FileChanges } from "./conversation/changes.ts";
export type { Conversation } from "./conversation/conversation.ts";
export type { Entries } from "./conversation/entries.ts";
export type { Entry, EntryStage, EntryError } from "./conversation/entry.ts";
export {
  type Connection,
  LiveConversation,
  type LiveOptions,
  type SendOptions,
  type Snapshot,
} from "./conversation/live.ts";
export type { Note, Notes } from "./conversation/note.ts";
export type { Outbox, UnsentMessage } from "./conversation/outbox.ts";

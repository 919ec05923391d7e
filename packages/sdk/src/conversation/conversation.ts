import type { AgentEvent } from "../protocol/event.ts";
import type { ChatFrame } from "../protocol/frame.ts";
import type { AgentStatus, Todo } from "../protocol/turn.ts";
import type { Results } from "./call.ts";
import type { CapabilitiesByCall } from "./capabilities.ts";
import type { FileChanges, ChangesByCall } from "./changes.ts";
import type { Entries } from "./entries.ts";
import type { EntryError } from "./entry.ts";
import type { Note, Notes } from "./note.ts";
import { emptyState } from "./state.ts";

export type Frame = ChatFrame | AgentEvent;

/** Everything a reader of a conversation sees, made from the frames of its agent. */
export interface Conversation {
  /** The history has come: what is empty now is really empty. */
  ready: boolean;
  entries: Entries;
  /** What happened between them, in order. */
  notes: Notes;
  /** Answers of tools whose calls are not loaded. */
  results: Results;
  /** What the code of calls has called, by the call that runs it. */
  capabilities: CapabilitiesByCall;
  /** The versions of the workspace that calls have made. */
  changes: ChangesByCall;
  /** What was changed last in the workspace while we looked on, by whomever. */
  lastChanged?: FileChanges | undefined;
  /** What the agent syncs to every client, kept up to date. */
  state: AgentStatus;
  /** The turn that runs. */
  run?: string | undefined;
  retry?: { error: string; attempt: number; inMs: number } | undefined;
  /** What went wrong and belongs to no message. */
  error?: EntryError | undefined;
  todos: readonly Todo[];
  model?: string | undefined;
  /** There are older messages than the first entry. */
  older: boolean;
  /** Counts turns that ended while we looked on. */
  turnsSeen: number;
  /** What was said to the end while we looked on, for people who hear the page. */
  lastSaid?: { id: string; text: string } | undefined;
  /** What happened last between messages while we looked on, for them too. */
  lastNote?: Note | undefined;
}

export const emptyConversation: Conversation = {
  ready: false,
  entries: [],
  notes: [],
  results: {},
  capabilities: {},
  changes: {},
  state: emptyState,
  todos: [],
  older: false,
  turnsSeen: 0,
};

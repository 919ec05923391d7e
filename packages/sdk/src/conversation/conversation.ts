import type { AgentEvent } from "../protocol/event.ts";
import type { ChatFrame } from "../protocol/frame.ts";
import type { Subagent } from "../protocol/subagent.ts";
import type { Task } from "../protocol/task.ts";
import type { AgentStatus, Todo } from "../protocol/turn.ts";
import type { CurrentActivity } from "./activity.ts";
import type { Results } from "./call.ts";
import type { CapabilitiesByCall } from "./capabilities.ts";
import type { FileChanges, ChangesByCall } from "./changes.ts";
import type { Entries } from "./entries.ts";
import type { EntryError } from "./entry.ts";
import type { Note, Notes } from "./note.ts";
import { emptyState } from "./state.ts";
import type { SubagentStreams } from "./subagents.ts";
import { noWaits, type Waits } from "./waits.ts";

export type Frame = ChatFrame | AgentEvent;

/** Everything a reader sees of a conversation, computed from the frames of its agent. */
export interface Conversation {
  /** True once the history has been received. Until then, empty only means unknown. */
  ready: boolean;
  entries: Entries;
  /** What happened between the messages, in order. */
  notes: Notes;
  /** Results of tool calls by call id, including calls that are not loaded. */
  results: Results;
  /** Calls made by code, by the id of the tool call that runs it. */
  capabilities: CapabilitiesByCall;
  /** Versions of the workspace, by the id of the tool call that created them. */
  changes: ChangesByCall;
  /** The latest version of the workspace that was received live, by any author. */
  lastChanged?: FileChanges | undefined;
  /** The state that the agent syncs to every client, kept up to date. */
  state: AgentStatus;
  /** The id of the running turn. */
  run?: string | undefined;
  /** What the agent's code shows while it works. */
  activity?: CurrentActivity | undefined;
  retry?: { error: string; attempt: number; inMs: number } | undefined;
  /** An error that does not belong to a message. */
  error?: EntryError | undefined;
  todos: readonly Todo[];
  /** Tasks of open trees and those that were created since, oldest first; without the root tasks of messages. */
  tasks: readonly Task[];
  /** The agent's sub-agents, newest first. */
  subagents: readonly Subagent[];
  /** What those do that stream, and those below them, since we connected. */
  subagentStreams: SubagentStreams;
  /** What open turns wait for. Of times and webhooks from before we connected, only the oldest is known. */
  waits: Waits;
  model?: string | undefined;
  /** True if there are older messages than the first entry; see `loadOlder`. */
  older: boolean;
  /** Number of turns that ended while connected. */
  turnCount: number;
  /** The last message that was completed while connected, for screen readers. */
  lastMessage?: { id: string; text: string } | undefined;
  /** The last note that was received while connected, for screen readers. */
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
  tasks: [],
  subagents: [],
  subagentStreams: {},
  waits: noWaits,
  older: false,
  turnCount: 0,
};

import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { Conversation } from "../conversation/conversation.ts";
import type { Entries } from "../conversation/entries.ts";
import { type Connection, LiveConversation, type LiveOptions } from "../conversation/live.ts";
import type { AgentStatus } from "../protocol/turn.ts";

export type { Conversation, Connection, Entries };
export type { Capability } from "../client/capability.ts";
export type { Call, Result } from "../conversation/call.ts";
export type { FileChanges } from "../conversation/changes.ts";
export type { Entry, EntryStage, EntryError } from "../conversation/entry.ts";
export type { LiveOptions as ThinkOptions, SendOptions } from "../conversation/live.ts";
export type { Note, Notes } from "../conversation/note.ts";
export type { Outbox, UnsentMessage } from "../conversation/outbox.ts";

type ConversationActions = Pick<
  LiveConversation,
  "send" | "cancel" | "approve" | "answer" | "unsend" | "loadOlder" | "reconnect"
>;

/** The state of a conversation and the functions to act on it. The functions are stable for the same agent. */
export interface Think
  extends ConversationActions, Omit<Conversation, "entries" | "results" | "capabilities" | "changes"> {
  /** The messages in order. An entry that did not change is the same object as before. */
  messages: Entries;
  connection: Connection;
  status: AgentStatus["status"];
  /** Number of turns in the queue. */
  queued: number;
  title: string | undefined;
  context: AgentStatus["context"];
}

/**
 * Follows the conversation with an agent while the component is mounted.
 *
 * ```tsx
 * const { messages, status, send, cancel } = useThink({ agent: "alice" });
 * ```
 *
 * A change of `agent`, `agency`, `url` or `token` opens another conversation. Changes of other options have no effect.
 */
export function useThink(options: LiveOptions): Think {
  const { agent, agency, url, token } = options;
  const live = useMemo(() => new LiveConversation(options), [agent, agency, url, token]);
  useEffect(() => live.open(), [live]);
  const { conversation, connection } = useSyncExternalStore(live.subscribe, live.get, live.get);
  return useMemo(() => {
    const { entries, results: _, capabilities: __, changes: ___, ...rest } = conversation;
    const { status, queued, title, context } = conversation.state;
    const { send, cancel, approve, answer, unsend, loadOlder, reconnect } = live;
    return {
      ...rest,
      messages: entries,
      connection,
      status,
      queued,
      title,
      context,
      send,
      cancel,
      approve,
      answer,
      unsend,
      loadOlder,
      reconnect,
    };
  }, [live, conversation, connection]);
}

import type { Outbox, UnsentMessage } from "@thinkery/sdk/react";
import { recall, remember } from "../frame/storage.ts";

/** Identifies a conversation. Includes the user because several may share a browser. */
export interface ConversationKey {
  user: string;
  agency: string;
  agent: string;
}

export function buildStorageKey(kind: string, { user, agency, agent }: ConversationKey): string {
  return `${kind}.${user}.${agency}~${agent}`;
}

/** Unsent messages, persisted in the browser across reloads and views. */
export function createOutbox(conversation: ConversationKey): Outbox {
  const key = buildStorageKey("unsent", conversation);
  const write = (messages: readonly UnsentMessage[]) =>
    remember(key, messages.length > 0 ? JSON.stringify(messages) : undefined);
  const read = (): UnsentMessage[] => {
    try {
      const stored: unknown = JSON.parse(recall(key) ?? "[]");
      return Array.isArray(stored) ? stored.filter(isUnsentMessage) : [];
    } catch {
      return [];
    }
  };
  return {
    read,
    add: (unsent) => write([...read().filter(({ id }) => id !== unsent.id), unsent]),
    remove(id) {
      const messages = read();
      if (messages.some((unsent) => unsent.id === id)) write(messages.filter((unsent) => unsent.id !== id));
    },
  };
}

function isUnsentMessage(value: unknown): value is UnsentMessage {
  const { id, content, mode, at } = (value ?? {}) as Partial<UnsentMessage>;
  return typeof id === "string" && typeof content === "string" && typeof mode === "string" && typeof at === "number";
}

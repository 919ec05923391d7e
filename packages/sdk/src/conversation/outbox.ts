import type { Mode } from "../protocol/choices.ts";
import type { NewAttachment } from "../protocol/turn.ts";

/** A message that the agent has not confirmed yet. */
export interface UnsentMessage {
  id: string;
  content: string;
  attachments?: NewAttachment[];
  mode: Mode;
  at: number;
}

/** Stores unconfirmed messages. They are sent again until the agent confirms them; their ids prevent duplicates. */
export interface Outbox {
  read(): readonly UnsentMessage[];
  add(unsent: UnsentMessage): void;
  remove(id: string): void;
}

/** Creates an outbox that lasts as long as the page. */
export function createMemoryOutbox(): Outbox {
  const messages = new Map<string, UnsentMessage>();
  return {
    read: () => [...messages.values()],
    add: (unsent) => void messages.set(unsent.id, unsent),
    remove: (id) => void messages.delete(id),
  };
}

import type { Mode } from "../protocol/choices.ts";
import type { NewAttachment } from "../protocol/turn.ts";

/** Something a person said that the agent has not confirmed yet. */
export interface UnsentMessage {
  id: string;
  content: string;
  attachments?: NewAttachment[];
  mode: Mode;
  at: number;
}

/** Where that is kept. What is in it is said again until the agent has it; its id makes a second saying harmless. */
export interface Outbox {
  read(): readonly UnsentMessage[];
  add(unsent: UnsentMessage): void;
  remove(id: string): void;
}

/** One that is forgotten with the page. */
export function createMemoryOutbox(): Outbox {
  const messages = new Map<string, UnsentMessage>();
  return {
    read: () => [...messages.values()],
    add: (unsent) => void messages.set(unsent.id, unsent),
    remove: (id) => void messages.delete(id),
  };
}

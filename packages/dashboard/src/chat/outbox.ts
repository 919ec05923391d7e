import type { Outbox, Unsent } from "@thinkery/sdk/react";
import { recall, remember } from "../frame/storage.ts";

/** Between whom something is said. The user is in it, because a browser may be used by several. */
export interface ConversationKey {
  user: string;
  agency: string;
  agent: string;
}

export function buildStorageKey(what: string, { user, agency, agent }: ConversationKey): string {
  return `${what}.${user}.${agency}~${agent}`;
}

/** Kept in the browser, so that neither a reload nor another view loses it. */
export function createOutbox(pair: ConversationKey): Outbox {
  const key = buildStorageKey("unsent", pair);
  const write = (kept: readonly Unsent[]) => remember(key, kept.length > 0 ? JSON.stringify(kept) : undefined);
  const read = (): Unsent[] => {
    try {
      const kept: unknown = JSON.parse(recall(key) ?? "[]");
      return Array.isArray(kept) ? kept.filter(isUnsent) : [];
    } catch {
      return [];
    }
  };
  return {
    read,
    add: (unsent) => write([...read().filter(({ id }) => id !== unsent.id), unsent]),
    remove(id) {
      const kept = read();
      if (kept.some((unsent) => unsent.id === id)) write(kept.filter((unsent) => unsent.id !== id));
    },
  };
}

function isUnsent(value: unknown): value is Unsent {
  const { id, content, mode, at } = (value ?? {}) as Partial<Unsent>;
  return typeof id === "string" && typeof content === "string" && typeof mode === "string" && typeof at === "number";
}

import type { Channel } from "@thinkery/sdk";
import { createStore, type Store, useStore } from "../api/store.ts";
import { recall, remember } from "../frame/storage.ts";

/** How many messages of each channel a person has seen, on this browser. */
export interface ReadMarks {
  /** Channels that are not here are new since these marks were first written. */
  counts: Readonly<Record<string, number>>;
  /** Whether channels were listed before at all: until then, nothing is unread. */
  isKnown: boolean;
}

const stores = new Map<string, Store<ReadMarks>>();

/** Includes the user, because several may share a browser. */
function getStore(user: string, agency: string): Store<ReadMarks> {
  const key = getKey(user, agency);
  let store = stores.get(key);
  if (!store) stores.set(key, (store = createStore(parseMarks(recall(key)))));
  return store;
}

const getKey = (user: string, agency: string) => `read.${user}.${agency}`;

export function useReadMarks(user: string, agency: string): ReadMarks {
  return useStore(getStore(user, agency));
}

/** Writes the first marks, or what was read of one channel. */
export function markRead(user: string, agency: string, channels: readonly Channel[], read?: string): void {
  const store = getStore(user, agency);
  const before = store.get();
  const next = before.isKnown ? readChannel(before, channels, read) : readAll(channels);
  if (next === before) return;
  store.set(next);
  remember(getKey(user, agency), JSON.stringify(next.counts));
}

function readAll(channels: readonly Channel[]): ReadMarks {
  return { counts: Object.fromEntries(channels.map(({ name, messages }) => [name, messages])), isKnown: true };
}

/** Marks of channels that are gone are dropped. */
function readChannel(marks: ReadMarks, channels: readonly Channel[], read: string | undefined): ReadMarks {
  const channel = channels.find(({ name }) => name === read);
  if (!channel || marks.counts[channel.name] === channel.messages) return marks;
  const names = new Set(channels.map(({ name }) => name));
  const kept = Object.entries(marks.counts).filter(([name]) => names.has(name));
  return { counts: { ...Object.fromEntries(kept), [channel.name]: channel.messages }, isKnown: true };
}

export function countUnread({ counts, isKnown }: ReadMarks, { name, messages }: Channel): number {
  return isKnown ? Math.max(0, messages - (Object.hasOwn(counts, name) ? (counts[name] ?? 0) : 0)) : 0;
}

export function parseMarks(stored: string | undefined): ReadMarks {
  try {
    const counts: unknown = JSON.parse(stored ?? "null");
    if (counts === null || typeof counts !== "object" || Array.isArray(counts)) return { counts: {}, isKnown: false };
    const numbers = Object.entries(counts).filter((entry): entry is [string, number] => Number.isInteger(entry[1]));
    return { counts: Object.fromEntries(numbers), isKnown: true };
  } catch {
    return { counts: {}, isKnown: false };
  }
}

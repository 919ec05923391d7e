import type { Mode } from "@thinkery/sdk";
import { recall, remember } from "../frame/remembered.ts";

/** Between whom something is said. The user is in it, because a browser may be used by several. */
export interface Pair {
  user: string;
  agency: string;
  agent: string;
}

/** Something a person said that the agent has not confirmed yet. */
export interface Unsent {
  id: string;
  content: string;
  mode: Mode;
  at: number;
}

export function pairKey(what: string, { user, agency, agent }: Pair): string {
  return `${what}.${user}.${agency}~${agent}`;
}

/** Kept in the browser, so that neither a reload nor another view loses it. Its id makes a second sending harmless. */
export function readOutbox(pair: Pair): Unsent[] {
  try {
    const kept: unknown = JSON.parse(recall(pairKey("unsent", pair)) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isUnsent) : [];
  } catch {
    return [];
  }
}

export function addToOutbox(pair: Pair, unsent: Unsent): void {
  write(pair, [...readOutbox(pair).filter(({ id }) => id !== unsent.id), unsent]);
}

export function removeFromOutbox(pair: Pair, ids: readonly string[]): void {
  const kept = readOutbox(pair);
  const left = kept.filter(({ id }) => !ids.includes(id));
  if (left.length < kept.length) write(pair, left);
}

function write(pair: Pair, kept: Unsent[]): void {
  remember(pairKey("unsent", pair), kept.length > 0 ? JSON.stringify(kept) : undefined);
}

function isUnsent(value: unknown): value is Unsent {
  const { id, content, mode, at } = (value ?? {}) as Partial<Unsent>;
  return typeof id === "string" && typeof content === "string" && typeof mode === "string" && typeof at === "number";
}

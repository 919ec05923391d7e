import { isThinkeryError } from "@thinkery/sdk";
import type { Statement } from "../store/accounts.ts";
import type { Env } from "./env.ts";

/** A statement on its way to an agency. */
export interface Sending {
  agency: string;
  statement: Statement;
  /** It was heard; the agency may want to hear of all days. */
  arrived(incomplete: boolean): void;
}

/** So long statements are gathered: many agents' are sent in one, and of each only its last. */
const gatherMs = 500;
/** Whoever set the timer may be gone, and the timer with them. */
const lateMs = 1_000;

/**
 * What the agents of this isolate have to say to their agencies and are in no hurry about: by agency and agent. Totals
 * that are read in another isolate lack it for `gatherMs`, or until an agent's next beat if whoever set the timer is
 * gone. Budgets do not depend on it: an agent that has one asks its agency before each call.
 */
const gathered = new Map<string, Map<string, Sending>>();
let due = 0;

export function stateSoon(env: Env, sending: Sending): void {
  let all = gathered.get(sending.agency);
  if (!all) gathered.set(sending.agency, (all = new Map()));
  all.set(sending.statement.name, sending);
  const now = Date.now();
  if (now < due + lateMs) return;
  due = now + gatherMs;
  setTimeout(() => void stateGathered(env), gatherMs);
}

/** Sends all that was gathered in this isolate, for whoever is about to read totals. What does not arrive is said again by its agent's next beat. */
export async function stateGathered(env: Env): Promise<void> {
  due = 0;
  const all = [...gathered];
  gathered.clear();
  await Promise.all(all.map(([agency, sendings]) => send(env, agency, [...sendings.values()])));
}

/** For a statement that others wait for. */
export async function stateNow(env: Env, sending: Sending): Promise<void> {
  gathered.get(sending.agency)?.delete(sending.statement.name);
  await send(env, sending.agency, [sending]);
}

async function send(env: Env, agency: string, all: readonly Sending[]): Promise<void> {
  if (all.length === 0) return;
  try {
    const incomplete = await env.Agency.getByName(agency).accounts(all.map(({ statement }) => statement));
    for (const { statement, arrived } of all) arrived(incomplete.includes(statement.name));
  } catch (error) {
    // An agency that is gone keeps no books.
    const gone = isThinkeryError(error) && error.code === "not_found";
    if (gone) for (const { arrived } of all) arrived(false);
    else console.error("statements did not arrive", error);
  }
}

import { isThinkeryError } from "@thinkery/sdk";
import type { Statement } from "../store/accounts.ts";
import type { Env } from "./env.ts";

export interface Letter {
  agency: string;
  statement: Statement;
  /** It was heard; the agency may want to hear of all days. */
  arrived(incomplete: boolean): void;
}

/** So long letters are gathered: many agents' in one, and of each only its last. */
const gatherMs = 200;
/** Whoever set the timer may be gone, and the timer with them. */
const lateMs = 1_000;

/** What the agents of this isolate have to say to their agencies and are in no hurry about: by agency and agent. */
const letters = new Map<string, Map<string, Letter>>();
let due = 0;

export function post(env: Env, letter: Letter): void {
  let box = letters.get(letter.agency);
  if (!box) letters.set(letter.agency, (box = new Map()));
  box.set(letter.statement.name, letter);
  const now = Date.now();
  if (now < due + lateMs) return;
  due = now + gatherMs;
  setTimeout(() => void deliver(env), gatherMs);
}

/** Sends everything that was gathered. What does not arrive is said again by its agent's next beat. */
export async function deliver(env: Env): Promise<void> {
  due = 0;
  const all = [...letters];
  letters.clear();
  await Promise.all(all.map(([agency, box]) => send(env, agency, [...box.values()])));
}

/** One that others wait for. */
export async function deliverNow(env: Env, letter: Letter): Promise<void> {
  letters.get(letter.agency)?.delete(letter.statement.name);
  await send(env, letter.agency, [letter]);
}

async function send(env: Env, agency: string, all: readonly Letter[]): Promise<void> {
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

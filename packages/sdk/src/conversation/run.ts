import type { Conversation } from "./conversation.ts";
import { answered, indexOf, put, taken } from "./entries.ts";
import { blankEntry, type Entry, mergedResult, type Result, type Trouble } from "./entry.ts";

/** This turn runs now; what it was asked has its place. */
export function begun(now: Conversation, runId: string): Conversation {
  if (now.run === runId) return now;
  return { ...now, run: runId, entries: taken(now.entries, (entry) => entry.runId === runId) };
}

/** What a call to the model had said before it failed, or the host did, was never said. */
export function unsaid(now: Conversation, runId: string): Conversation {
  return { ...now, entries: now.entries.filter((entry) => entry.stage !== "streaming" || entry.runId !== runId) };
}

/** This turn is over: nothing of it goes on, whatever we did not hear of. */
export function ended(now: Conversation, runId: string, how: Ending): Conversation {
  const own = now.run === runId;
  return {
    ...now,
    entries: now.entries.flatMap((entry) => (entry.runId === runId ? settled(entry, how) : entry)),
    retry: own ? undefined : now.retry,
    run: own ? undefined : now.run,
    turnsSeen: now.turnsSeen + 1,
  };
}

type Ending = "done" | "failed" | "canceled";

/** What is left of an entry when its turn is over, as the agent would tell it to somebody who comes now. */
export function settled(entry: Entry, how: Ending): Entry[] {
  const open = entry.calls.some((call) => !call.result && !call.abandoned);
  const calls = open ? entry.calls.map((call) => (call.result ? call : { ...call, abandoned: true })) : entry.calls;
  if (entry.stage === "streaming") {
    const nothing = calls.length === 0 && (how === "failed" || entry.text === "");
    return nothing ? [] : [{ ...entry, stage: how, calls }];
  }
  // A question stays as it was asked, unless its turn never came.
  if (entry.stage === "waiting") return [{ ...entry, stage: how === "canceled" ? "canceled" : "done", calls }];
  return [open ? { ...entry, calls } : entry];
}

/** The id that a turn's failure has in the history. */
export function errorId(runId: string): string {
  return `${runId}-error`;
}

/** Why a turn failed stands at its end. Who knows more than its message has told it before. */
export function troubled(now: Conversation, runId: string, trouble: Trouble, place: { at?: number; seq?: number } = {}): Conversation {
  const id = errorId(runId);
  const known = now.entries[indexOf(now.entries, id)] ?? { ...blankEntry(id, "assistant", "failed", 0), runId };
  return { ...now, entries: put(now.entries, { ...known, ...place, trouble: { ...known.trouble, ...trouble } }) };
}

export function settleCall(now: Conversation, callId: string, told: Result): Conversation {
  const result = mergedResult(now.results[callId], told);
  return { ...now, results: { ...now.results, [callId]: result }, entries: answered(now.entries, callId, result) };
}

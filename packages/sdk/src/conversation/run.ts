import type { CapabilityEvent } from "../client/capability.ts";
import type { Conversation } from "./conversation.ts";
import { abandoned, type Call, callOf, isOpen, mergedResult, type Result, showing } from "./call.ts";
import { heardOf } from "./capabilities.ts";
import type { EventData } from "../protocol/event.ts";
import { changedIn, changesWith } from "./changes.ts";
import { indexOf, put, recast, taken } from "./entries.ts";
import { blankEntry, type Entry, type Trouble } from "./entry.ts";

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
  const open = entry.calls.some(isOpen);
  const calls = open ? entry.calls.map((call) => (isOpen(call) ? abandoned(call) : call)) : entry.calls;
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
  return retold({ ...now, results: { ...now.results, [callId]: result } }, callId);
}

/** Code that a call runs has called something, or was answered. */
export function callWithin(now: Conversation, event: CapabilityEvent, fold = heardOf): Conversation {
  return retold({ ...now, capabilities: fold(now.capabilities, event) }, event.data.within);
}

/** A version of the workspace; it is shown with the call that made it, or with the one that runs the code that did. */
export function changedBy(now: Conversation, files: EventData["files.changed"]): Conversation {
  const { toolCall } = files.origin;
  if (toolCall === undefined) return now;
  const callId = outerOf(now, toolCall) ?? toolCall;
  return retold({ ...now, changes: changesWith(now.changes, callId, changedIn(files)) }, callId);
}

/** A call shows what it does. What a tool shows that was called by code is shown by the call that runs the code. */
export function shownBy(now: Conversation, callId: string, text: string): Conversation {
  if (text === "") return now;
  const entries = recast(now.entries, callId, (call) => showing(call, text));
  if (entries !== now.entries) return { ...now, entries };
  const outer = outerOf(now, callId);
  return outer === undefined ? now : { ...now, entries: recast(now.entries, outer, (call) => showing(call, text)) };
}

/** The call whose code made this one. */
function outerOf({ capabilities }: Conversation, callId: string): string | undefined {
  return Object.keys(capabilities).findLast((id) => capabilities[id]?.some((made) => made.id === callId));
}

function retold(now: Conversation, callId: string): Conversation {
  return { ...now, entries: recast(now.entries, callId, (call: Call) => callOf(call, now, call)) };
}

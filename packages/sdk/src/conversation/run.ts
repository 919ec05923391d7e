import type { CapabilityEvent } from "../client/capability.ts";
import type { EventData } from "../protocol/event.ts";
import { abandonCall, type Call, createCall, isOpen, mergeResults, type Result, appendProgress } from "./call.ts";
import { addCapability } from "./capabilities.ts";
import { toFileChanges, addChange } from "./changes.ts";
import type { Conversation } from "./conversation.ts";
import { findEntryIndex, upsertEntry, updateCall, placeWaiting } from "./entries.ts";
import { createEntry, type Entry, type EntryError } from "./entry.ts";

/** This turn runs now; what it was asked has its place. */
export function beginTurn(now: Conversation, runId: string): Conversation {
  if (now.run === runId) return now;
  return { ...now, run: runId, entries: placeWaiting(now.entries, (entry) => entry.runId === runId) };
}

/** What a call to the model had said before it failed, or the host did, was never said. */
export function discardDraft(now: Conversation, runId: string): Conversation {
  return { ...now, entries: now.entries.filter((entry) => entry.stage !== "streaming" || entry.runId !== runId) };
}

/** This turn is over: nothing of it goes on, whatever we did not hear of. */
export function endTurn(now: Conversation, runId: string, how: EndStage): Conversation {
  const own = now.run === runId;
  return {
    ...now,
    entries: now.entries.flatMap((entry) => (entry.runId === runId ? settleEntry(entry, how) : entry)),
    retry: own ? undefined : now.retry,
    run: own ? undefined : now.run,
    turnsSeen: now.turnsSeen + 1,
  };
}

type EndStage = "done" | "failed" | "canceled";

/** What is left of an entry when its turn is over, as the agent would tell it to somebody who comes now. */
export function settleEntry(entry: Entry, how: EndStage): Entry[] {
  const open = entry.calls.some(isOpen);
  const calls = open ? entry.calls.map((call) => (isOpen(call) ? abandonCall(call) : call)) : entry.calls;
  if (entry.stage === "streaming") {
    const nothing = calls.length === 0 && (how === "failed" || entry.text === "");
    return nothing ? [] : [{ ...entry, stage: how, calls }];
  }
  // A question stays as it was asked, unless its turn never came.
  if (entry.stage === "waiting") return [{ ...entry, stage: how === "canceled" ? "canceled" : "done", calls }];
  return [open ? { ...entry, calls } : entry];
}

/** The id that a turn's failure has in the history. */
export function toErrorId(runId: string): string {
  return `${runId}-error`;
}

/** Why a turn failed stands at its end. Who knows more than its message has told it before. */
export function addFailure(
  now: Conversation,
  runId: string,
  error: EntryError,
  place: { at?: number; seq?: number } = {},
): Conversation {
  const id = toErrorId(runId);
  const known = now.entries[findEntryIndex(now.entries, id)] ?? { ...createEntry(id, "assistant", "failed", 0), runId };
  return {
    ...now,
    entries: upsertEntry(now.entries, { ...known, ...place, error: { ...known.error, ...error } }),
  };
}

export function settleCall(now: Conversation, callId: string, told: Result): Conversation {
  const result = mergeResults(now.results[callId], told);
  return refreshCall({ ...now, results: { ...now.results, [callId]: result } }, callId);
}

/** Code that a call runs has called something, or was answered. */
export function applyCapability(now: Conversation, event: CapabilityEvent, fold = addCapability): Conversation {
  return refreshCall({ ...now, capabilities: fold(now.capabilities, event) }, event.data.parentCallId);
}

/** A version of the workspace; it is shown with the call that made it, or with the one that runs the code that did. */
export function applyFileChange(now: Conversation, files: EventData["files.changed"]): Conversation {
  const { toolCall } = files.origin;
  if (toolCall === undefined) return now;
  const callId = findOuterCall(now, toolCall) ?? toolCall;
  return refreshCall({ ...now, changes: addChange(now.changes, callId, toFileChanges(files)) }, callId);
}

/** A call shows what it does. What a tool shows that was called by code is shown by the call that runs the code. */
export function applyProgress(now: Conversation, callId: string, text: string): Conversation {
  if (text === "") return now;
  const entries = updateCall(now.entries, callId, (call) => appendProgress(call, text));
  if (entries !== now.entries) return { ...now, entries };
  const outer = findOuterCall(now, callId);
  return outer === undefined
    ? now
    : { ...now, entries: updateCall(now.entries, outer, (call) => appendProgress(call, text)) };
}

/** The call whose code made this one. */
function findOuterCall({ capabilities }: Conversation, callId: string): string | undefined {
  return Object.keys(capabilities).findLast((id) => capabilities[id]?.some((made) => made.id === callId));
}

function refreshCall(now: Conversation, callId: string): Conversation {
  return { ...now, entries: updateCall(now.entries, callId, (call: Call) => createCall(call, now, call)) };
}

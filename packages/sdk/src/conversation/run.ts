import type { CapabilityEvent } from "../client/capability.ts";
import type { EventData } from "../protocol/event.ts";
import { abandonCall, type Call, createCall, isOpen, mergeResults, type Result, appendProgress } from "./call.ts";
import { addCapability } from "./capabilities.ts";
import { toFileChanges, addChange } from "./changes.ts";
import type { Conversation } from "./conversation.ts";
import { findEntryIndex, upsertEntry, updateCall, placeWaiting } from "./entries.ts";
import { createEntry, type Entry, type EntryError } from "./entry.ts";

/** Marks a turn as running. Its messages get their place in the conversation. */
export function startTurn(conversation: Conversation, runId: string): Conversation {
  if (conversation.run === runId) return conversation;
  return { ...conversation, run: runId, entries: placeWaiting(conversation.entries, (entry) => entry.runId === runId) };
}

/** Drops what the model wrote before it failed or the host crashed. */
export function discardDraft(conversation: Conversation, runId: string): Conversation {
  return {
    ...conversation,
    entries: conversation.entries.filter((entry) => entry.stage !== "streaming" || entry.runId !== runId),
  };
}

/** Ends a turn. Nothing of it is still running, even if we missed how it ended. */
export function endTurn(conversation: Conversation, runId: string, stage: EndStage): Conversation {
  const isRunning = conversation.run === runId;
  return {
    ...conversation,
    entries: conversation.entries.flatMap((entry) => (entry.runId === runId ? settleEntry(entry, stage) : entry)),
    retry: isRunning ? undefined : conversation.retry,
    run: isRunning ? undefined : conversation.run,
    activity: isRunning ? undefined : conversation.activity,
    turnCount: conversation.turnCount + 1,
  };
}

type EndStage = "done" | "failed" | "canceled";

/** Returns what remains of an entry after its turn ended, as the agent's history would show it. */
export function settleEntry(entry: Entry, stage: EndStage): Entry[] {
  const hasOpenCalls = entry.calls.some(isOpen);
  const calls = hasOpenCalls ? entry.calls.map((call) => (isOpen(call) ? abandonCall(call) : call)) : entry.calls;
  if (entry.stage === "streaming") {
    const isEmpty = calls.length === 0 && (stage === "failed" || entry.text === "");
    return isEmpty ? [] : [{ ...entry, stage, calls }];
  }
  // A user message stays, unless its turn was canceled before it started.
  if (entry.stage === "waiting") return [{ ...entry, stage: stage === "canceled" ? "canceled" : "done", calls }];
  return [hasOpenCalls ? { ...entry, calls } : entry];
}

/** Returns the id of the message that reports the failure of a turn. */
export function toErrorId(runId: string): string {
  return `${runId}-error`;
}

/** Adds the failure of a turn at its end. Keeps details that were known before. */
export function addFailure(
  conversation: Conversation,
  runId: string,
  error: EntryError,
  position: { at?: number; seq?: number } = {},
): Conversation {
  const id = toErrorId(runId);
  const known = conversation.entries[findEntryIndex(conversation.entries, id)] ?? {
    ...createEntry(id, "assistant", "failed", 0),
    runId,
  };
  return {
    ...conversation,
    entries: upsertEntry(conversation.entries, { ...known, ...position, error: { ...known.error, ...error } }),
  };
}

export function settleCall(conversation: Conversation, callId: string, settled: Result): Conversation {
  const result = mergeResults(conversation.results[callId], settled);
  return refreshCall({ ...conversation, results: { ...conversation.results, [callId]: result } }, callId);
}

/** Applies a call made by code, or its result. */
export function applyCapability(
  conversation: Conversation,
  event: CapabilityEvent,
  reduce = addCapability,
): Conversation {
  return refreshCall(
    { ...conversation, capabilities: reduce(conversation.capabilities, event) },
    event.data.parentCallId,
  );
}

/** Adds a version of the workspace to the tool call that created it, or to the one that runs the code that did. */
export function applyFileChange(conversation: Conversation, files: EventData["files.changed"]): Conversation {
  const { toolCall } = files.origin;
  if (toolCall === undefined) return conversation;
  const callId = findOuterCall(conversation, toolCall) ?? toolCall;
  return refreshCall(
    { ...conversation, changes: addChange(conversation.changes, callId, toFileChanges(files)) },
    callId,
  );
}

/** Appends progress to a call. Progress of a tool called by code goes to the call that runs the code. */
export function applyProgress(conversation: Conversation, callId: string, text: string): Conversation {
  if (text === "") return conversation;
  const entries = updateCall(conversation.entries, callId, (call) => appendProgress(call, text));
  if (entries !== conversation.entries) return { ...conversation, entries };
  const outer = findOuterCall(conversation, callId);
  return outer === undefined
    ? conversation
    : { ...conversation, entries: updateCall(conversation.entries, outer, (call) => appendProgress(call, text)) };
}

/** Finds the tool call whose code made this call. */
function findOuterCall({ capabilities }: Conversation, callId: string): string | undefined {
  return Object.keys(capabilities).findLast((outerId) => capabilities[outerId]?.some(({ id }) => id === callId));
}

function refreshCall(conversation: Conversation, callId: string): Conversation {
  return {
    ...conversation,
    entries: updateCall(conversation.entries, callId, (call: Call) => createCall(call, conversation, call)),
  };
}

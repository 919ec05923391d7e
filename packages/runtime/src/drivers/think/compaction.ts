import { charsPerToken, estimateMessageTokens, estimateTextTokens } from "../../model/estimate.ts";
import type { Compaction } from "../../store/facts.ts";
import { formatSummary } from "./summary.ts";
import type { TranscriptEntry } from "./transcript-entry.ts";
import { truncateResult } from "./transcript.ts";

// Plans how to compact a conversation that is too long for its model. Pure functions: no model calls, no writes.

/** Above this share of the context window, the conversation is compacted. */
export const compactionThreshold = 0.8;
/** Share of the context window that a compaction aims for. */
export const targetShare = 0.6;
/** Maximum share of the messages that are kept as they are. */
const tailShare = 0.3;
/** Maximum shares of the summary and of the user's request, if that is not among the kept messages. */
const summaryShare = 0.12;
const requestShare = 0.2;
/** Maximum length of a summary, however large the context window is. */
const maxSummaryChars = 16_000;
/** Share that must be left for the response. */
const responseShare = 0.1;
/** Tool results of the last steps are not truncated at first: the model is working with them. */
const untruncatedSteps = 2;

/** Sizes used to plan a compaction. */
export interface Measure {
  /** The model's context window, in the provider's tokens. */
  limit: number;
  /** Prompt and tools, in our estimated tokens. */
  fixed: number;
  /** The provider's tokens per estimated token. */
  scale: number;
}

export interface CompactionPlan {
  /** Tool results up to this position are truncated. */
  shortened: number;
  /** Entries before this index are summarized; undefined if none are. */
  cut?: number;
  /** Size of the conversation afterwards, without the summary. */
  after: number;
}

/** The effect of the last compaction in the log. */
type PreviousCompaction = Pick<Compaction, "runId" | "shortened" | "summary" | "request">;

/** What replaces the removed messages. */
type SummaryParts = Pick<Compaction, "upTo" | "summary" | "request">;

/** Returns the smallest sufficient compaction, else the largest possible one, or undefined if none is small enough. */
export function planCompaction(
  entries: readonly TranscriptEntry[],
  { limit, fixed, scale }: Measure,
  turn: string,
  previous?: PreviousCompaction,
): CompactionPlan | undefined {
  // Tool results are truncated up to: where they are now; the last steps; the end.
  const current = previous?.shortened ?? 0;
  const old = Math.max(current, findLastStepsStart(entries));
  const last = entries.at(-1)?.position ?? 0;
  const [currentTails, oldTails, allTails] = [current, old, last].map((upTo) => sumTails(entries, upTo)) as [
    number[],
    number[],
    number[],
  ];
  const head = fixed + estimateTextTokens((previous && formatSummary(previous)) ?? "");
  const used = scale * (head + getTail(currentTails, 0));

  const afterTruncation = scale * (head + getTail(oldTails, 0));
  if (getTail(oldTails, 0) < getTail(currentTails, 0) && afterTruncation <= targetShare * limit)
    return { shortened: old, after: afterTruncation };

  const request = findRequest(entries, turn);
  const previousRequestTokens = estimateTextTokens(getPreviousSummary(previous ?? {}, turn).request ?? "");
  const countRequestTokens = (cut: number) => {
    const tokens = request
      .filter((index) => index < cut)
      .reduce((sum, index) => sum + (entries[index]?.tokens ?? 0), previousRequestTokens);
    return Math.min(scale * tokens, requestShare * limit);
  };
  const createPlan = (upTo: number, tails: readonly number[], cut: number): CompactionPlan => ({
    shortened: upTo,
    cut,
    after: scale * (fixed + getTail(tails, cut)) + countRequestTokens(cut),
  });
  const cuts = findCuts(entries);
  // The earliest cut comes first, because it keeps the most.
  const preferred = cuts
    .filter((cut) => scale * getTail(oldTails, cut) <= tailShare * limit)
    .map((cut) => createPlan(old, oldTails, cut));
  const lastCut = cuts.at(-1);
  const fallbacks = [
    ...(lastCut === undefined ? [] : [createPlan(old, oldTails, lastCut), createPlan(last, allTails, lastCut)]),
    createPlan(last, allTails, entries.length),
  ];
  const plan = [...preferred, ...fallbacks].find(({ after }) => after <= targetShare * limit) ?? fallbacks.at(-1);
  if (!plan || plan.after > (1 - responseShare) * limit) return undefined;
  return plan.after + summaryShare * limit < used ? plan : undefined;
}

/** Returns the maximum length of a summary and of a repeated request. */
export function getMaxChars({ limit, scale }: Measure): { summary: number; request: number } {
  const toChars = (share: number) => Math.floor((share * limit * charsPerToken) / scale);
  return { summary: Math.min(toChars(summaryShare), maxSummaryChars), request: toChars(requestShare) };
}

/** Returns where the conversation may be cut: not before a tool result, and not so that a result loses its call. */
export function findCuts(entries: readonly TranscriptEntry[]): number[] {
  const cuts: number[] = [];
  const orphans = new Set<string>();
  for (let index = entries.length - 1; index > 0; index--) {
    const message = entries[index]?.message;
    if (message?.role === "tool") orphans.add(message.callId);
    if (message?.role === "assistant") for (const { id } of message.toolCalls ?? []) orphans.delete(id);
    if (message?.role !== "tool" && orphans.size === 0) cuts.push(index);
  }
  return cuts.toReversed();
}

/**
 * Returns the indexes of the turn's request: its last user message before the model's first response, and all user
 * messages that joined later. Earlier ones may be a whole conversation that was passed in with the request.
 */
export function findRequest(entries: readonly TranscriptEntry[], turn: string): number[] {
  const turnEntries = entries.flatMap((entry, index) => (entry.turn === turn ? [{ ...entry, index }] : []));
  const firstResponse = turnEntries.find(({ step }) => step !== undefined)?.index ?? entries.length;
  const userIndexes = turnEntries.filter(({ message }) => message.role === "user").map(({ index }) => index);
  const openingCount = userIndexes.filter((index) => index < firstResponse).length;
  return userIndexes.slice(Math.max(0, openingCount - 1));
}

/** Returns the last compaction's summary and request. The request of another turn becomes part of the summary. */
export function getPreviousSummary({ runId, upTo, summary, request }: Partial<Compaction>, turn: string): SummaryParts {
  const pastRequest = request !== undefined && runId !== turn ? `The user then asked:\n${request}` : undefined;
  return toSummaryParts({
    upTo,
    summary: joinTexts([summary, pastRequest]),
    request: pastRequest === undefined ? request : undefined,
  });
}

export function toSummaryParts({
  upTo,
  summary,
  request,
}: { [Part in keyof SummaryParts]: SummaryParts[Part] | undefined }): SummaryParts {
  return {
    ...(upTo === undefined ? {} : { upTo }),
    ...(summary === undefined ? {} : { summary }),
    ...(request === undefined ? {} : { request }),
  };
}

export function joinTexts(texts: readonly (string | undefined)[]): string | undefined {
  const defined = texts.filter((text) => text !== undefined);
  return defined.length > 0 ? defined.join("\n\n") : undefined;
}

/** Returns the position before the steps whose results are not truncated. */
function findLastStepsStart(entries: readonly TranscriptEntry[]): number {
  const responses = entries.filter(({ message }) => message.role === "assistant");
  const first = responses.at(-untruncatedSteps);
  return first && responses.length > untruncatedSteps ? first.position - 1 : 0;
}

/** Returns for each index the tokens of all entries from there on, with tool results up to a position truncated. */
function sumTails(entries: readonly TranscriptEntry[], upTo: number): number[] {
  let sum = 0;
  return entries
    .toReversed()
    .map((entry) => (sum += countTokens(entry, upTo)))
    .toReversed();
}

/** Returns an entry's tokens, with tool results up to a position truncated. */
export function countTokens({ position, message, tokens }: TranscriptEntry, upTo: number): number {
  return position <= upTo && message.role === "tool" ? estimateMessageTokens(truncateResult(message)) : tokens;
}

const getTail = (tails: readonly number[], index: number) => tails[index] ?? 0;

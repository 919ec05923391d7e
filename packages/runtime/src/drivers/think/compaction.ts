import { charsPerToken, estimateMessageTokens, estimateTextTokens } from "../../model/estimate.ts";
import type { Compaction } from "../../store/facts.ts";
import { formatSummary } from "./summary.ts";
import type { TranscriptEntry } from "./transcript-entry.ts";
import { shortenResult } from "./transcript.ts";

/** What becomes of a conversation that is too long for its model. Nothing here asks anybody or writes anything. */

/** Above this share of what the model reads at once, the conversation is compacted. */
export const compactionThreshold = 0.8;
/** Below this share it need not be made any smaller. */
export const targetShare = 0.6;
/** The messages that stay as they are take this share at most. */
const tailShare = 0.3;
/** The summary and, where it lies before the tail, the user's request get these shares at most. */
const summaryShare = 0.12;
const requestShare = 0.2;
/** Nobody reads a longer one. */
const maxSummaryChars = 16_000;
/** What has to be left for the answer. */
const answerShare = 0.1;
/** Results of the last steps are what the model is working with. */
const wholeSteps = 2;

/** How large things are, in the provider's tokens as far as they are known. */
export interface Measure {
  /** How much the model reads at once. */
  limit: number;
  /** The prompt and the tools. */
  fixed: number;
  /** The provider's tokens for one of ours. */
  scale: number;
}

export interface CompactionPlan {
  /** Tool results up to this place are told by their beginning. */
  shortened: number;
  /** What comes before this entry goes into a summary; nothing does where it is missing. */
  cut?: number;
  /** What the conversation will take then, the summary not counted. */
  after: number;
}

/** What the log's last compaction already does. */
type PreviousCompaction = Pick<Compaction, "runId" | "shortened" | "summary" | "request">;

/** What is told in place of messages. */
type SummaryParts = Pick<Compaction, "upTo" | "summary" | "request">;

/** The smallest change that will do, or the largest that can be made; nothing where none makes it small enough. */
export function planCompaction(
  told: readonly TranscriptEntry[],
  { limit, fixed, scale }: Measure,
  turn: string,
  before?: PreviousCompaction,
): CompactionPlan | undefined {
  const last = told.at(-1)?.position ?? 0;
  const old = Math.max(before?.shortened ?? 0, findLastStepsStart(told));
  const [own, short, all] = [before?.shortened ?? 0, old, last].map((upTo) => sumTails(told, upTo)) as [
    number[],
    number[],
    number[],
  ];
  const head = fixed + estimateTextTokens((before && formatSummary(before)) ?? "");
  const used = scale * (head + getTail(own, 0));

  const afterShortening = scale * (head + getTail(short, 0));
  if (getTail(short, 0) < getTail(own, 0) && afterShortening <= targetShare * limit)
    return { shortened: old, after: afterShortening };

  const request = findRequest(told, turn);
  const keptTokens = estimateTextTokens(getPreviousSummary(before ?? {}, turn).request ?? "");
  const countRepeated = (cut: number) => {
    const tokens = request
      .filter((index) => index < cut)
      .reduce((sum, index) => sum + (told[index]?.tokens ?? 0), keptTokens);
    return Math.min(scale * tokens, requestShare * limit);
  };
  const createPlan = (upTo: number, tail: readonly number[], cut: number): CompactionPlan => ({
    shortened: upTo,
    cut,
    after: scale * (fixed + getTail(tail, cut)) + countRepeated(cut),
  });
  const cuts = findCuts(told);
  // The earliest cut keeps the most.
  const usual = cuts
    .filter((cut) => scale * getTail(short, cut) <= tailShare * limit)
    .map((cut) => createPlan(old, short, cut));
  const lastCut = cuts.at(-1);
  const rest = [
    ...(lastCut === undefined ? [] : [createPlan(old, short, lastCut), createPlan(last, all, lastCut)]),
    createPlan(last, all, told.length),
  ];
  const found = [...usual, ...rest].find(({ after }) => after <= targetShare * limit) ?? rest.at(-1);
  if (!found || found.after > (1 - answerShare) * limit) return undefined;
  return found.after + summaryShare * limit < used ? found : undefined;
}

/** So many characters a summary may have, and a request that is repeated. */
export function getMaxChars({ limit, scale }: Measure): { summary: number; request: number } {
  const toChars = (share: number) => Math.floor((share * limit * charsPerToken) / scale);
  return { summary: Math.min(toChars(summaryShare), maxSummaryChars), request: toChars(requestShare) };
}

/** Where the conversation may begin: not with a result, and not so that a later result has lost its call. */
export function findCuts(told: readonly TranscriptEntry[]): number[] {
  const cuts: number[] = [];
  const orphans = new Set<string>();
  for (let index = told.length - 1; index > 0; index--) {
    const message = told[index]?.message;
    if (message?.role === "tool") orphans.add(message.callId);
    if (message?.role === "assistant") for (const { id } of message.toolCalls ?? []) orphans.delete(id);
    if (message?.role !== "tool" && orphans.size === 0) cuts.push(index);
  }
  return cuts.toReversed();
}

/** What the user wants of this turn: what was said last when it began, and what joined it. A whole conversation may have been handed in before that. */
export function findRequest(told: readonly TranscriptEntry[], turn: string): number[] {
  const own = told.flatMap((entry, index) => (entry.turn === turn ? [{ ...entry, index }] : []));
  const spoke = own.findIndex(({ step }) => step !== undefined);
  const said = own.filter(({ message }) => message.role === "user").map(({ index }) => index);
  const opening = spoke < 0 ? said.length : said.filter((index) => index < (own[spoke]?.index ?? 0)).length;
  return said.slice(Math.max(0, opening - 1));
}

/** What was kept so far. Of what another turn was asked for, only that it was. */
export function getPreviousSummary({ runId, upTo, summary, request }: Partial<Compaction>, turn: string): SummaryParts {
  const past = request !== undefined && runId !== turn ? `The user then asked:\n${request}` : undefined;
  return toSummaryParts({
    upTo,
    summary: joinTexts([summary, past]),
    request: past === undefined ? request : undefined,
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
  const some = texts.filter((text) => text !== undefined);
  return some.length > 0 ? some.join("\n\n") : undefined;
}

/** The place before the steps whose results stay whole. */
function findLastStepsStart(told: readonly TranscriptEntry[]): number {
  const spoken = told.filter(({ message }) => message.role === "assistant");
  const first = spoken.at(-wholeSteps);
  return first && spoken.length > wholeSteps ? first.position - 1 : 0;
}

/** What everything from each entry on takes, with the results up to a place shortened. */
function sumTails(told: readonly TranscriptEntry[], upTo: number): number[] {
  let sum = 0;
  return told
    .toReversed()
    .map((entry) => (sum += countTokens(entry, upTo)))
    .toReversed();
}

/** What an entry takes where the results up to a place are shortened. */
export function countTokens({ position, message, tokens }: TranscriptEntry, upTo: number): number {
  return position <= upTo && message.role === "tool" ? estimateMessageTokens(shortenResult(message)) : tokens;
}

const getTail = (tail: readonly number[], index: number) => tail[index] ?? 0;

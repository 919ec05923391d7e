import { tokensOfMessage, tokensOfText } from "../../model/estimate.ts";
import type { ModelMessage } from "../../model/model.ts";
import { type Compaction, shortened, type Told } from "./transcript.ts";

/** What becomes of a conversation that is too long for its model. Nothing here asks anybody or writes anything. */

/** Above this share of what the model reads at once, the conversation is compacted. */
export const compactAt = 0.8;
/** Shortening tool results will do where it brings the conversation below this share. */
const enough = 0.6;
/** The messages that stay as they are take this share at most. */
const tailShare = 0.3;
/** The summary and, where it lies before the tail, the user's request get these shares at most. */
const summaryShare = 0.12;
const requestShare = 0.2;
/** What is left to leave for the answer. */
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

export interface Plan {
  /** Tool results up to this place are told by their beginning. */
  shortened: number;
  /** What comes before this entry goes into a summary; nothing does where it is missing. */
  cut?: number;
  /** What the conversation will take then, the summary not counted. */
  after: number;
}

/** What the log's last compaction already does. */
type Before = Pick<Compaction, "shortened" | "summary">;

/** The smallest change that will do, or the largest that can be made; nothing where nothing can be made smaller. */
export function planCompaction(told: readonly Told[], { limit, fixed, scale }: Measure, turn: string, before?: Before): Plan | undefined {
  const room = (tokens: number) => scale * tokens;
  const last = told.at(-1)?.position ?? 0;
  const old = Math.max(before?.shortened ?? 0, beforeLastSteps(told));
  const own = sizes(told, before?.shortened ?? 0);
  const short = sizes(told, old);
  const summary = before?.summary === undefined ? 0 : tokensOfText(before.summary);

  const afterShortening = room(fixed + summary + sum(short));
  if (sum(short) < sum(own) && afterShortening <= enough * limit) return { shortened: old, after: afterShortening };

  const request = requestOf(told, turn);
  const repeated = (cut: number) => Math.min(sum(request.filter((index) => index < cut).map((index) => own[index] ?? 0)), (requestShare * limit) / scale);
  const after = (cut: number, tail: readonly number[]) => room(fixed + repeated(cut) + sum(tail.slice(cut)));
  const cuts = told.map((_, index) => index).filter((index) => index > 0 && isCut(told, index));
  const most = Math.min(tailShare * limit, (1 - answerShare - summaryShare) * limit - room(fixed));
  // The earliest cut keeps the most.
  const usual = cuts.find((cut) => room(sum(short.slice(cut))) <= most && after(cut, short) <= enough * limit);
  if (usual !== undefined) return { shortened: old, cut: usual, after: after(usual, short) };

  const all = sizes(told, last);
  const lastCut = cuts.at(-1);
  const possible: Plan[] = [
    ...(lastCut === undefined ? [] : [{ shortened: old, cut: lastCut, after: after(lastCut, short) }, { shortened: last, cut: lastCut, after: after(lastCut, all) }]),
    { shortened: last, cut: told.length, after: after(told.length, all) },
  ];
  const found = possible.find((plan) => plan.after <= enough * limit) ?? possible.at(-1);
  return found && found.after + summaryShare * limit < room(fixed + summary + sum(own)) ? found : undefined;
}

/** So many characters a summary may have. */
export function longestSummary({ limit, scale }: Measure, charsPerToken: number): number {
  return Math.floor((summaryShare * limit * charsPerToken) / scale);
}

export function longestRequest({ limit, scale }: Measure, charsPerToken: number): number {
  return Math.floor((requestShare * limit * charsPerToken) / scale);
}

/** May the conversation begin here? Not with a result, and not so that a later result has lost its call. */
export function isCut(told: readonly Told[], index: number): boolean {
  if (told[index]?.message.role === "tool") return false;
  const called = new Set(told.slice(index).flatMap(({ message }) => callsOf(message)));
  return told.slice(index).every(({ message }) => message.role !== "tool" || called.has(message.callId));
}

/** What the user wants of this turn: what was said to it, but for the part of a conversation that was handed in with it. */
export function requestOf(told: readonly Told[], turn: string): number[] {
  const given = told.findLastIndex((entry) => entry.turn === turn && entry.message.role === "assistant" && entry.step === undefined);
  return told.flatMap((entry, index) => (index > given && entry.turn === turn && entry.message.role === "user" ? [index] : []));
}

/** The place before the steps whose results stay whole. */
function beforeLastSteps(told: readonly Told[]): number {
  const spoken = told.filter(({ message }) => message.role === "assistant");
  const first = spoken.at(-wholeSteps);
  return first && spoken.length > wholeSteps ? first.position - 1 : 0;
}

function sizes(told: readonly Told[], upTo: number): number[] {
  return told.map(({ position, message }) => tokensOfMessage(position <= upTo ? shortened(message) : message));
}

const callsOf = (message: ModelMessage) => (message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : []);

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

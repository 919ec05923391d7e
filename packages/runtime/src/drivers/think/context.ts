import { ModelError } from "../../model/error.ts";
import { estimatePromptTokens, estimateTextTokens } from "../../model/estimate.ts";
import type { Model } from "../../model/model.ts";
import type { TurnContext } from "../driver.ts";
import {
  compactionThreshold,
  targetShare,
  type Measure,
  type CompactionPlan,
  planCompaction,
  findRequest,
} from "./compaction.ts";
import { formatSummary } from "./summary.ts";
import type { TranscriptEntry } from "./transcript-entry.ts";
import type { Transcript } from "./transcript.ts";

// Decides whether the conversation fills the model's context window and must be compacted.

/** Every model has at least this context window. Below it, the actual size need not be known. */
const minWindowTokens = 3_000;
/** Bounds of the ratio between the provider's token counts and our estimates. */
const maxScale = 8;
const minScale = 0.7;

export interface CompactionNeed {
  plan: CompactionPlan;
  measure: Measure;
  /** Current size of the conversation, in the provider's tokens. */
  used: number;
}

/** Estimates the tokens of the next call. Cheap, and accurate enough to tell that there is nothing to do. */
export function estimateTokens(turn: TurnContext, transcript: Transcript): number {
  return estimatePromptTokens(turn) + transcript.tokens;
}

/** Returns the compaction needed before the model is called, if any. */
export async function findNeedBeforeCall(
  turn: TurnContext,
  transcript: Transcript,
  limit: Promise<number>,
): Promise<CompactionNeed | undefined> {
  const estimate = estimateTokens(turn, transcript);
  if (estimate < minWindowTokens || estimate * maxScale < compactionThreshold * (await limit)) return undefined;
  // Just compacted, so it cannot get smaller; the provider may still accept it.
  const last = transcript.compaction;
  if (last?.runId === turn.runId && !transcript.hasResponseAfter(last.at)) return undefined;
  const { used, measure } = await measureUsage(turn, transcript, await limit);
  // Much of the counted tokens may be reasoning, which is not sent again.
  const isFull = used > compactionThreshold * measure.limit && estimate * measure.scale > targetShare * measure.limit;
  return isFull ? findNeed(turn, transcript, used, measure) : undefined;
}

/** Returns the compaction to try after the provider rejected the conversation as too long, if any. */
export async function findNeedAfterOverflow(
  turn: TurnContext,
  transcript: Transcript,
  limit: Promise<number>,
): Promise<CompactionNeed | undefined> {
  return findNeed(turn, transcript, ...(await measureOverflow(turn, transcript, await limit)));
}

/** Creates the error for a conversation that cannot be compacted further; it says what takes up the space. */
export async function createOverflowError(
  error: ModelError,
  turn: TurnContext,
  transcript: Transcript,
  model: Model,
  limit: Promise<number>,
): Promise<ModelError> {
  const fixed = estimatePromptTokens(turn);
  const request = findRequest(transcript.entries, turn.runId).reduce(
    (sum, index) => sum + (transcript.entries[index]?.tokens ?? 0),
    0,
  );
  const toPercent = (tokens: number) => Math.min(99, Math.round((100 * tokens) / (fixed + transcript.tokens)));
  const cause =
    fixed > transcript.tokens
      ? `Instructions and tools alone take about ${toPercent(fixed)}% of it.`
      : request * 2 > transcript.tokens
        ? `The request takes about ${toPercent(request)}% of it.`
        : "It could not be compacted enough.";
  return new ModelError("overflow", `${error.message} ${cause}`, {
    retryable: false,
    advice: `${error.advice} If the context window of ${model.id} is smaller than ${await limit} tokens, set it under “contextTokens” in config.jsonc.`,
    ...(error.status === undefined ? {} : { status: error.status }),
  });
}

/** Returns the tokens a call used, estimated if the provider did not report them. */
export function countUsedTokens(
  usage: { inputTokens: number; outputTokens: number } | undefined,
  turn: TurnContext,
  transcript: Transcript,
): number {
  const reported = usage ? usage.inputTokens + usage.outputTokens : 0;
  return reported > 0 ? reported : estimateTokens(turn, transcript);
}

function findNeed(
  turn: TurnContext,
  transcript: Transcript,
  used: number,
  measure: Measure,
): CompactionNeed | undefined {
  const plan = planCompaction(transcript.entries, measure, turn.runId, transcript.compaction);
  return plan && { plan, measure, used };
}

/** Adds our estimate of everything since the provider's last count to that count, in the provider's tokens. */
async function measureUsage(
  turn: TurnContext,
  transcript: Transcript,
  limit: number,
): Promise<{ used: number; measure: Measure }> {
  const fixed = estimatePromptTokens(turn);
  const head = fixed + estimateTextTokens((transcript.compaction && formatSummary(transcript.compaction)) ?? "");
  const lastCount = await turn.conversation.getLastCount();
  const [before, since] = splitEntries(transcript.entries, lastCount?.position ?? 0);
  if (!lastCount) return { used: estimateTokens(turn, transcript), measure: { limit, fixed, scale: 1 } };
  const scale = Math.min(maxScale, Math.max(minScale, lastCount.input / (head + sumTokens(before))));
  // The response at that position is already included in the count.
  const skip = since[0]?.position === lastCount.position ? 1 : 0;
  return { used: lastCount.tokens + scale * sumTokens(since.slice(skip)), measure: { limit, fixed, scale } };
}

/** A conversation that was rejected fills at least the whole context window, whatever we estimated. */
async function measureOverflow(
  turn: TurnContext,
  transcript: Transcript,
  limit: number,
): Promise<[used: number, measure: Measure]> {
  const { used, measure } = await measureUsage(turn, transcript, limit);
  return [
    Math.max(used, limit),
    { ...measure, scale: Math.max(measure.scale, limit / estimateTokens(turn, transcript)) },
  ];
}

function splitEntries(
  entries: readonly TranscriptEntry[],
  position: number,
): [before: readonly TranscriptEntry[], since: readonly TranscriptEntry[]] {
  const first = entries.findIndex((entry) => entry.position >= position);
  return first < 0 ? [entries, []] : [entries.slice(0, first), entries.slice(first)];
}

const sumTokens = (entries: readonly TranscriptEntry[]) => entries.reduce((sum, { tokens }) => sum + tokens, 0);

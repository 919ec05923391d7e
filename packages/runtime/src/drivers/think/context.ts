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

/** How full the model's memory of the conversation is, and what is to be done about it. */

/** So many tokens every model reads at once: below, nobody need know how many it is. */
const minWindowTokens = 3_000;
/** Our estimates are not further off than that, up or down. */
const maxScale = 8;
const minScale = 0.7;

export interface CompactionNeed {
  plan: CompactionPlan;
  measure: Measure;
  /** What the conversation takes now. */
  used: number;
}

/** About how many tokens the next call will be told. Cheap, and good enough to know that there is nothing to do. */
export function estimateTokens(turn: TurnContext, transcript: Transcript): number {
  return estimatePromptTokens(turn) + transcript.tokens;
}

/** What has to be done before the model is called, if anything. */
export async function findNeedBeforeCall(
  turn: TurnContext,
  transcript: Transcript,
  limit: Promise<number>,
): Promise<CompactionNeed | undefined> {
  const rough = estimateTokens(turn, transcript);
  if (rough < minWindowTokens || rough * maxScale < compactionThreshold * (await limit)) return undefined;
  // One that has just been compacted is as small as it gets: the provider may see it otherwise.
  const last = transcript.compaction;
  if (last?.runId === turn.runId && !transcript.hasSpokenSince(last.at)) return undefined;
  const { used, measure } = await measureUsage(turn, transcript, await limit);
  // What was counted may have been thoughts for the most part, which are not told again.
  const isFull = used > compactionThreshold * measure.limit && rough * measure.scale > targetShare * measure.limit;
  return isFull ? findNeed(turn, transcript, used, measure) : undefined;
}

/** What can be done after the provider refused the conversation for its length, if anything. */
export async function findNeedAfterOverflow(
  turn: TurnContext,
  transcript: Transcript,
  limit: Promise<number>,
): Promise<CompactionNeed | undefined> {
  return findNeed(turn, transcript, ...(await measureOverflow(turn, transcript, await limit)));
}

/** Says what is too large, where nothing can be made smaller. */
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
  const what =
    fixed > transcript.tokens
      ? `The instructions and the tools alone are about ${toPercent(fixed)} % of it.`
      : request * 2 > transcript.tokens
        ? `What was asked is about ${toPercent(request)} % of it.`
        : "It cannot be made small enough.";
  return new ModelError("overflow", `${error.message} ${what}`, {
    passing: false,
    advice: `${error.advice} If ${model.id} reads less than ${await limit} tokens at once, say so under “contextTokens” in config.jsonc.`,
    ...(error.status === undefined ? {} : { status: error.status }),
  });
}

/** What the call came to, for whoever watches the meter. */
export function countUsedTokens(
  usage: { inputTokens: number; outputTokens: number } | undefined,
  turn: TurnContext,
  transcript: Transcript,
): number {
  const counted = usage ? usage.inputTokens + usage.outputTokens : 0;
  return counted > 0 ? counted : estimateTokens(turn, transcript);
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

/** What the provider counted last, and our estimate of what came since, in its tokens. */
async function measureUsage(
  turn: TurnContext,
  transcript: Transcript,
  limit: number,
): Promise<{ used: number; measure: Measure }> {
  const fixed = estimatePromptTokens(turn);
  const head = fixed + estimateTextTokens((transcript.compaction && formatSummary(transcript.compaction)) ?? "");
  const counted = await turn.conversation.getLastCount();
  const [before, since] = split(transcript.entries, counted?.position ?? 0);
  if (!counted) return { used: estimateTokens(turn, transcript), measure: { limit, fixed, scale: 1 } };
  const scale = Math.min(maxScale, Math.max(minScale, counted.input / (head + sumTokens(before))));
  // The answer itself was counted with its call.
  const answer = since[0]?.position === counted.position ? 1 : 0;
  return { used: counted.tokens + scale * sumTokens(since.slice(answer)), measure: { limit, fixed, scale } };
}

/** A conversation that was refused takes at least all there is, whatever we thought of it. */
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

function split(
  told: readonly TranscriptEntry[],
  position: number,
): [before: readonly TranscriptEntry[], since: readonly TranscriptEntry[]] {
  const first = told.findIndex((entry) => entry.position >= position);
  return first < 0 ? [told, []] : [told.slice(0, first), told.slice(first)];
}

const sumTokens = (told: readonly TranscriptEntry[]) => told.reduce((sum, { tokens }) => sum + tokens, 0);

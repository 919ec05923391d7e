import { ModelError } from "../../model/error.ts";
import { tokensOfPrompt, tokensOfText } from "../../model/estimate.ts";
import type { Model } from "../../model/model.ts";
import type { DrivenTurn } from "../driver.ts";
import { compactAt, enough, type Measure, type Plan, planCompaction, requestOf } from "./compaction.ts";
import { summaryOf } from "./summary.ts";
import type { Transcript } from "./transcript.ts";
import type { TranscriptEntry } from "./transcript-entry.ts";

/** How full the model's memory of the conversation is, and what is to be done about it. */

/** So many tokens every model reads at once: below, nobody need know how many it is. */
const minWindowTokens = 3_000;
/** Our estimates are not further off than that, up or down. */
const maxScale = 8;
const minScale = 0.7;

export interface Need {
  plan: Plan;
  measure: Measure;
  /** What the conversation takes now. */
  used: number;
}

/** About how many tokens the next call will be told. Cheap, and good enough to know that there is nothing to do. */
export function roughly(turn: DrivenTurn, transcript: Transcript): number {
  return tokensOfPrompt(turn) + transcript.tokens;
}

/** What has to be done before the model is called, if anything. */
export async function needBefore(turn: DrivenTurn, transcript: Transcript, limit: Promise<number>): Promise<Need | undefined> {
  const rough = roughly(turn, transcript);
  if (rough < minWindowTokens || rough * maxScale < compactAt * (await limit)) return undefined;
  // One that has just been compacted is as small as it gets: the provider may see it otherwise.
  const last = transcript.compaction;
  if (last?.runId === turn.runId && !transcript.spokeSince(last.at)) return undefined;
  const { used, measure } = await measured(turn, transcript, await limit);
  // What was counted may have been thoughts for the most part, which are not told again.
  const full = used > compactAt * measure.limit && rough * measure.scale > enough * measure.limit;
  return full ? needOf(turn, transcript, used, measure) : undefined;
}

/** What can be done after the provider refused the conversation for its length, if anything. */
export async function needAfterOverflow(turn: DrivenTurn, transcript: Transcript, limit: Promise<number>): Promise<Need | undefined> {
  return needOf(turn, transcript, ...(await overflowed(turn, transcript, await limit)));
}

/** Says what is too large, where nothing can be made smaller. */
export async function tooLarge(error: ModelError, turn: DrivenTurn, transcript: Transcript, model: Model, limit: Promise<number>): Promise<ModelError> {
  const fixed = tokensOfPrompt(turn);
  const request = requestOf(transcript.told, turn.runId).reduce((sum, index) => sum + (transcript.told[index]?.tokens ?? 0), 0);
  const share = (tokens: number) => Math.min(99, Math.round((100 * tokens) / (fixed + transcript.tokens)));
  const what =
    fixed > transcript.tokens
      ? `The instructions and the tools alone are about ${share(fixed)} % of it.`
      : request * 2 > transcript.tokens
        ? `What was asked is about ${share(request)} % of it.`
        : "It cannot be made small enough.";
  return new ModelError("overflow", `${error.message} ${what}`, {
    passing: false,
    advice: `${error.advice} If ${model.id} reads less than ${await limit} tokens at once, say so under “contextTokens” in config.jsonc.`,
    ...(error.status === undefined ? {} : { status: error.status }),
  });
}

/** What the call came to, for whoever watches the meter. */
export function usedAfter(usage: { inputTokens: number; outputTokens: number } | undefined, turn: DrivenTurn, transcript: Transcript): number {
  const counted = usage ? usage.inputTokens + usage.outputTokens : 0;
  return counted > 0 ? counted : roughly(turn, transcript);
}

function needOf(turn: DrivenTurn, transcript: Transcript, used: number, measure: Measure): Need | undefined {
  const plan = planCompaction(transcript.told, measure, turn.runId, transcript.compaction);
  return plan && { plan, measure, used };
}

/** What the provider counted last, and our estimate of what came since, in its tokens. */
async function measured(
  turn: DrivenTurn,
  transcript: Transcript,
  limit: number,
): Promise<{ used: number; measure: Measure }> {
  const fixed = tokensOfPrompt(turn);
  const head = fixed + tokensOfText((transcript.compaction && summaryOf(transcript.compaction)) ?? "");
  const counted = await turn.conversation.lastCount();
  const [before, since] = split(transcript.told, counted?.position ?? 0);
  if (!counted) return { used: roughly(turn, transcript), measure: { limit, fixed, scale: 1 } };
  const scale = Math.min(maxScale, Math.max(minScale, counted.input / (head + tokensOf(before))));
  // The answer itself was counted with its call.
  const answer = since[0]?.position === counted.position ? 1 : 0;
  return { used: counted.tokens + scale * tokensOf(since.slice(answer)), measure: { limit, fixed, scale } };
}

/** A conversation that was refused takes at least all there is, whatever we thought of it. */
async function overflowed(
  turn: DrivenTurn,
  transcript: Transcript,
  limit: number,
): Promise<[used: number, measure: Measure]> {
  const { used, measure } = await measured(turn, transcript, limit);
  return [Math.max(used, limit), { ...measure, scale: Math.max(measure.scale, limit / roughly(turn, transcript)) }];
}

function split(told: readonly TranscriptEntry[], position: number): [before: readonly TranscriptEntry[], since: readonly TranscriptEntry[]] {
  const first = told.findIndex((entry) => entry.position >= position);
  return first < 0 ? [told, []] : [told.slice(0, first), told.slice(first)];
}

const tokensOf = (told: readonly TranscriptEntry[]) => told.reduce((sum, { tokens }) => sum + tokens, 0);

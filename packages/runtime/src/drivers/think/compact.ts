import type { ModelRole } from "@thinkery/sdk";
import { ModelError } from "../../model/error.ts";
import { charsPerToken, estimateTextTokens } from "../../model/estimate.ts";
import { getMessageText } from "../../model/model.ts";
import type { TurnContext } from "../driver.ts";
import {
  joinTexts,
  toSummaryParts,
  getPreviousSummary,
  getMaxChars,
  type Measure,
  findRequest,
  countTokens,
} from "./compaction.ts";
import type { CompactionNeed } from "./context.ts";
import { truncateMiddle, splitPages, formatSummary, createSummaryPrompt, createSummarySystem } from "./summary.ts";
import type { TranscriptEntry } from "./transcript-entry.ts";
import type { Transcript } from "./transcript.ts";

/** A page takes this share of what the summarizer reads at once; where it finds that too long, half of it, and so on. */
const pageShare = 0.5;
const minShare = 0.1;
/** What it has said so far, and what it says, take these. */
const summaryShare = 0.15;
const answerShare = 0.25;
const maxAnswerTokens = 8_192;
const minPageChars = 1_000;

/** Makes the conversation shorter, in the log first: what the model is told from now on follows from that. */
export async function compact(
  turn: TurnContext,
  transcript: Transcript,
  { plan, measure, used }: CompactionNeed,
): Promise<void> {
  const { cut = 0, shortened } = plan;
  const kept =
    cut > 0
      ? await condense(turn, transcript, cut, measure)
      : getPreviousSummary(transcript.compaction ?? {}, turn.runId);
  const left = transcript.entries.slice(cut).reduce((sum, entry) => sum + countTokens(entry, shortened), 0);
  const after = measure.scale * (measure.fixed + estimateTextTokens(formatSummary(kept) ?? "") + left);
  await turn.recordCompaction({ shortened, ...kept, before: Math.round(used), after: Math.round(after) });
  await transcript.follow(turn.conversation);
}

/** What is kept of everything before the cut: a summary, and the words of whoever asked for this turn. */
async function condense(turn: TurnContext, { entries, compaction }: Transcript, cut: number, measure: Measure) {
  const maxChars = getMaxChars(measure);
  const asked = new Set(findRequest(entries, turn.runId));
  const gone = entries.slice(0, cut);
  const older = gone.filter((_, index) => !asked.has(index));
  const soFar = getPreviousSummary(compaction ?? {}, turn.runId);
  const summary =
    older.length > 0
      ? await summarize(turn, { older, before: soFar.summary, maxChars: maxChars.summary, scale: measure.scale })
      : soFar.summary;
  const request = joinTexts([
    soFar.request,
    ...gone.filter((_, index) => asked.has(index)).map(({ message }) => getMessageText(message)),
  ]);
  return toSummaryParts({
    upTo: gone.at(-1)?.position,
    summary: summary && truncateMiddle(summary, maxChars.summary),
    request: request && truncateMiddle(request, maxChars.request),
  });
}

interface SummaryInput {
  older: readonly TranscriptEntry[];
  /** What an earlier summary said. */
  before: string | undefined;
  /** So many characters the summary may have. */
  maxChars: number;
  scale: number;
}

/** By the model that is there for it, or by the primary one where that cannot. */
async function summarize(turn: TurnContext, pages: SummaryInput): Promise<string> {
  try {
    return await summarizeWith(turn, "summarizer", pages);
  } catch (error) {
    turn.signal.throwIfAborted();
    if (!(error instanceof ModelError) || (await isPrimary(turn, "summarizer"))) throw error;
    return summarizeWith(turn, "primary", pages);
  }
}

async function isPrimary({ models }: TurnContext, role: ModelRole): Promise<boolean> {
  return (await models.open(role)).id === (await models.open("primary")).id;
}

async function summarizeWith(turn: TurnContext, role: ModelRole, pages: SummaryInput): Promise<string> {
  const limit = await turn.models.getContextWindow((await turn.models.open(role)).id);
  for (let share = pageShare; ; share /= 2) {
    try {
      return await summarizePages(turn, role, pages, limit, share);
    } catch (error) {
      if (!(error instanceof ModelError) || error.kind !== "overflow" || share < minShare) throw error;
    }
  }
}

/** Page by page, each on top of what the ones before it came to. */
async function summarizePages(
  turn: TurnContext,
  role: ModelRole,
  { older, before, maxChars, scale }: SummaryInput,
  limit: number,
  share: number,
): Promise<string> {
  const toChars = (part: number) => Math.floor((part * limit * charsPerToken) / scale);
  const maxSummaryChars = Math.min(maxChars, toChars(summaryShare));
  const system = createSummarySystem(maxSummaryChars);
  const maxOutputTokens = Math.min(maxAnswerTokens, Math.floor(answerShare * limit));
  let summary = before === undefined ? undefined : truncateMiddle(before, toChars(summaryShare));
  for (const page of splitPages(older, Math.max(minPageChars, toChars(share)))) {
    const text = (
      await turn.consult({
        role,
        purpose: "summary",
        system,
        prompt: createSummaryPrompt(summary, page),
        maxOutputTokens,
      })
    ).trim();
    if (text === "") {
      throw new ModelError("refused", `The conversation is too long, and the ${role} model gave no summary of it.`, {
        passing: false,
        advice: "Choose another model for the role “summarizer”, or clear the conversation.",
      });
    }
    summary = truncateMiddle(text, maxSummaryChars);
  }
  return summary ?? "";
}

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

/** Share of the summarizer's context window that a page takes. Halved, down to the minimum, if that is too long. */
const pageShare = 0.5;
const minShare = 0.1;
/** Shares of the context window for the summary so far and for the response. */
const summaryShare = 0.15;
const responseShare = 0.25;
const maxResponseTokens = 8_192;
const minPageChars = 1_000;

/** Compacts the conversation. The log records it first; the transcript then follows from the log. */
export async function compact(
  turn: TurnContext,
  transcript: Transcript,
  { plan, measure, used }: CompactionNeed,
): Promise<void> {
  const { cut = 0, shortened } = plan;
  const summary =
    cut > 0
      ? await createSummary(turn, transcript, cut, measure)
      : getPreviousSummary(transcript.compaction ?? {}, turn.runId);
  const remainingTokens = transcript.entries.slice(cut).reduce((sum, entry) => sum + countTokens(entry, shortened), 0);
  const after = measure.scale * (measure.fixed + estimateTextTokens(formatSummary(summary) ?? "") + remainingTokens);
  await turn.recordCompaction({ shortened, ...summary, before: Math.round(used), after: Math.round(after) });
  await transcript.sync(turn.conversation);
}

/** Summarizes everything before the cut, and keeps the request of the current turn verbatim. */
async function createSummary(turn: TurnContext, { entries, compaction }: Transcript, cut: number, measure: Measure) {
  const maxChars = getMaxChars(measure);
  const requestIndexes = new Set(findRequest(entries, turn.runId));
  const removed = entries.slice(0, cut);
  const older = removed.filter((_, index) => !requestIndexes.has(index));
  const previous = getPreviousSummary(compaction ?? {}, turn.runId);
  const summary =
    older.length > 0
      ? await summarize(turn, {
          older,
          previousSummary: previous.summary,
          maxChars: maxChars.summary,
          scale: measure.scale,
        })
      : previous.summary;
  const request = joinTexts([
    previous.request,
    ...removed.filter((_, index) => requestIndexes.has(index)).map(({ message }) => getMessageText(message)),
  ]);
  return toSummaryParts({
    upTo: removed.at(-1)?.position,
    summary: summary && truncateMiddle(summary, maxChars.summary),
    request: request && truncateMiddle(request, maxChars.request),
  });
}

interface SummaryInput {
  older: readonly TranscriptEntry[];
  previousSummary: string | undefined;
  /** Maximum length of the summary. */
  maxChars: number;
  scale: number;
}

/** Summarizes with the summarizer model, or with the primary one if that fails. */
async function summarize(turn: TurnContext, input: SummaryInput): Promise<string> {
  try {
    return await summarizeWith(turn, "summarizer", input);
  } catch (error) {
    turn.signal.throwIfAborted();
    if (!(error instanceof ModelError) || (await isPrimary(turn, "summarizer"))) throw error;
    return summarizeWith(turn, "primary", input);
  }
}

async function isPrimary({ models }: TurnContext, role: ModelRole): Promise<boolean> {
  return (await models.open(role)).id === (await models.open("primary")).id;
}

async function summarizeWith(turn: TurnContext, role: ModelRole, input: SummaryInput): Promise<string> {
  const limit = await turn.models.getContextWindow((await turn.models.open(role)).id);
  for (let share = pageShare; ; share /= 2) {
    try {
      return await summarizePages(turn, role, input, limit, share);
    } catch (error) {
      if (!(error instanceof ModelError) || error.kind !== "overflow" || share < minShare) throw error;
    }
  }
}

/** Summarizes page by page; each call extends the summary of the pages before it. */
async function summarizePages(
  turn: TurnContext,
  role: ModelRole,
  { older, previousSummary, maxChars, scale }: SummaryInput,
  limit: number,
  share: number,
): Promise<string> {
  const toChars = (fraction: number) => Math.floor((fraction * limit * charsPerToken) / scale);
  const maxSummaryChars = Math.min(maxChars, toChars(summaryShare));
  const system = createSummarySystem(maxSummaryChars);
  const maxOutputTokens = Math.min(maxResponseTokens, Math.floor(responseShare * limit));
  let summary = previousSummary === undefined ? undefined : truncateMiddle(previousSummary, toChars(summaryShare));
  for (const page of splitPages(older, Math.max(minPageChars, toChars(share)))) {
    const text = (
      await turn.generate({
        role,
        purpose: "summary",
        system,
        prompt: createSummaryPrompt(summary, page),
        maxOutputTokens,
      })
    ).trim();
    if (text === "") {
      throw new ModelError("refused", `The conversation is too long, and the ${role} model returned no summary.`, {
        retryable: false,
        advice: "Choose another model for the role “summarizer”, or clear the conversation.",
      });
    }
    summary = truncateMiddle(text, maxSummaryChars);
  }
  return summary ?? "";
}

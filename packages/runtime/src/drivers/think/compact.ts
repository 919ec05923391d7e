import type { ModelRole } from "@thinkery/sdk";
import { ModelError } from "../../model/error.ts";
import { charsPerToken, tokensOfText } from "../../model/estimate.ts";
import { textOf } from "../../model/model.ts";
import type { DrivenTurn } from "../driver.ts";
import { joined, keptOf, keptSoFar, longest, type Measure, requestOf, tokensOf } from "./compaction.ts";
import type { Need } from "./context.ts";
import { cutDown, pagesOf, summaryOf, summaryPrompt, summarySystem } from "./summary.ts";
import type { Transcript } from "./transcript.ts";
import type { TranscriptEntry } from "./transcript-entry.ts";

/** A page takes this share of what the summarizer reads at once; where it finds that too long, half of it, and so on. */
const pageShare = 0.5;
const minShare = 0.1;
/** What it has said so far, and what it says, take these. */
const summaryShare = 0.15;
const answerShare = 0.25;
const maxAnswerTokens = 8_192;
const minPageChars = 1_000;

/** Makes the conversation shorter, in the log first: what the model is told from now on follows from that. */
export async function compact(turn: DrivenTurn, transcript: Transcript, { plan, measure, used }: Need): Promise<void> {
  const { cut = 0, shortened } = plan;
  const kept = cut > 0 ? await condensed(turn, transcript, cut, measure) : keptSoFar(transcript.compaction ?? {}, turn.runId);
  const left = transcript.told.slice(cut).reduce((sum, entry) => sum + tokensOf(entry, shortened), 0);
  const after = measure.scale * (measure.fixed + tokensOfText(summaryOf(kept) ?? "") + left);
  await turn.recordCompaction({ shortened, ...kept, before: Math.round(used), after: Math.round(after) });
  await transcript.follow(turn.conversation);
}

/** What is kept of everything before the cut: a summary, and the words of whoever asked for this turn. */
async function condensed(turn: DrivenTurn, { told, compaction }: Transcript, cut: number, measure: Measure) {
  const maxChars = longest(measure);
  const asked = new Set(requestOf(told, turn.runId));
  const gone = told.slice(0, cut);
  const older = gone.filter((_, index) => !asked.has(index));
  const soFar = keptSoFar(compaction ?? {}, turn.runId);
  const summary = older.length > 0 ? await summarize(turn, { older, before: soFar.summary, most: maxChars.summary, scale: measure.scale }) : soFar.summary;
  const request = joined([soFar.request, ...gone.filter((_, index) => asked.has(index)).map(({ message }) => textOf(message))]);
  return keptOf({ upTo: gone.at(-1)?.position, summary: summary && cutDown(summary, maxChars.summary), request: request && cutDown(request, maxChars.request) });
}

interface Pages {
  older: readonly TranscriptEntry[];
  /** What an earlier summary said. */
  before: string | undefined;
  /** So many characters the summary may have. */
  most: number;
  scale: number;
}

/** By the model that is there for it, or by the primary one where that cannot. */
async function summarize(turn: DrivenTurn, pages: Pages): Promise<string> {
  try {
    return await folded(turn, "summarizer", pages);
  } catch (error) {
    turn.signal.throwIfAborted();
    if (!(error instanceof ModelError) || (await isPrimary(turn, "summarizer"))) throw error;
    return folded(turn, "primary", pages);
  }
}

async function isPrimary({ models }: DrivenTurn, role: ModelRole): Promise<boolean> {
  return (await models.open(role)).id === (await models.open("primary")).id;
}

async function folded(turn: DrivenTurn, role: ModelRole, pages: Pages): Promise<string> {
  const limit = await turn.models.contextWindow((await turn.models.open(role)).id);
  for (let share = pageShare; ; share /= 2) {
    try {
      return await fold(turn, role, pages, limit, share);
    } catch (error) {
      if (!(error instanceof ModelError) || error.kind !== "overflow" || share < minShare) throw error;
    }
  }
}

/** Page by page, each on top of what the ones before it came to. */
async function fold(turn: DrivenTurn, role: ModelRole, { older, before, most, scale }: Pages, limit: number, share: number): Promise<string> {
  const chars = (part: number) => Math.floor((part * limit * charsPerToken) / scale);
  const maxSummaryChars = Math.min(most, chars(summaryShare));
  const system = summarySystem(maxSummaryChars);
  const maxOutputTokens = Math.min(maxAnswerTokens, Math.floor(answerShare * limit));
  let summary = before === undefined ? undefined : cutDown(before, chars(summaryShare));
  for (const page of pagesOf(older, Math.max(minPageChars, chars(share)))) {
    const text = (await turn.consult({ role, purpose: "summary", system, prompt: summaryPrompt(summary, page), maxOutputTokens })).trim();
    if (text === "") {
      throw new ModelError("refused", `The conversation is too long, and the ${role} model gave no summary of it.`, {
        passing: false,
        advice: "Choose another model for the role “summarizer”, or clear the conversation.",
      });
    }
    summary = cutDown(text, maxSummaryChars);
  }
  return summary ?? "";
}

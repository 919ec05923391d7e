import {
  endpoints,
  type ErrorCode,
  fail,
  formatAsk,
  type Invoke,
  isThinkeryError,
  type Job,
  type JobEvent,
  type Outcome,
  type UsageTotal,
} from "@thinkery/sdk";
import { roundUsd } from "@thinkery/sdk/internal";
import type { Hono } from "hono";
import type { PersonWaits } from "../../objects/waits-feature.ts";
import type { System } from "../../system/system.ts";
import { readCallerContext } from "../caller-context.ts";
import { resolveAgents } from "../job.ts";
import { mergeEvents } from "../merge.ts";
import { toEventStreamResponse } from "../response.ts";
import { type HonoEnv, route } from "../route.ts";
import { followRun, prepareRun, serveRun, toNewRun } from "../workflow-run.ts";

/**
 * Sends one message to one or more agents and waits for all of them. Turns are durable: they continue if the caller
 * disconnects.
 */
export function addJobRoutes(app: Hono<HonoEnv>, system: System): void {
  route(app, endpoints.run, async ({ env, request, caller, body }) => {
    if (body.workflow !== undefined) {
      const { run, kickOff } = await prepareRun({ env, system, caller }, toNewRun(body), body.idempotencyKey);
      // Before it begins, or its first text would be missed.
      const events = await followRun({ env, system, caller }, run.agency);
      await kickOff();
      return toEventStreamResponse(events);
    }
    const refs = await resolveAgents({ env, system, caller }, body);
    const from = { user: caller.user, context: readCallerContext(request) };
    const streams = await Promise.all(
      refs.map(async ({ agent, think, credentials }) => {
        const stream = think.conversation.converse(toInvoke(body), from, agent, credentials);
        return refs.length === 1 ? stream : stream.catch((error: unknown) => createErrorStream(agent, error));
      }),
    );
    return toEventStreamResponse(streams.length === 1 && streams[0] ? streams[0] : mergeEvents(streams));
  });

  route(app, endpoints.serve, async ({ env, request, caller, body, release }) => {
    if (body.workflow !== undefined) {
      const { run, kickOff } = await prepareRun({ env, system, caller }, toNewRun(body), body.idempotencyKey);
      await kickOff();
      release();
      return serveRun({ env, system, caller }, run.agency);
    }
    const refs = await resolveAgents({ env, system, caller }, body);
    const from = { user: caller.user, context: readCallerContext(request) };
    const admitted = await Promise.all(
      refs.map(async ({ agent, think }) => {
        return { think, agent, runId: (await think.conversation.admit(toInvoke(body), from)).runId };
      }),
    );
    release();
    const results = await Promise.all(
      admitted.map(async ({ think, agent, runId }) => ({ agent, ...(await think.conversation.waitForOutcome(runId)) })),
    );
    const waits = results.flatMap((result) => ("waits" in result ? result.waits : []));
    if (waits.length > 0) throw createWaitError(waits);
    const outcomes = results.flatMap((result) =>
      "outcome" in result ? { ...result.outcome, agent: result.agent } : [],
    );
    for (const outcome of outcomes)
      if (outcome.status !== "completed") throw createOutcomeError(outcome, outcomes.length > 1);
    return {
      content: joinContents(outcomes),
      toolCalls: outcomes.flatMap(({ toolCalls }) => toolCalls),
      usage: sumUsage(outcomes.map(({ usage }) => usage)),
      outcomes,
    };
  });
}

function toInvoke({ message = "", idempotencyKey, mode, props }: Job): Invoke {
  return { message, mode, ...(idempotencyKey ? { idempotencyKey } : {}), ...(props ? { props } : {}) };
}

/** With several agents, one that fails to start must not affect the others. */
function createErrorStream(agent: string, error: unknown): ReadableStream<Uint8Array> {
  if (!isThinkeryError(error)) throw error;
  const event: JobEvent = { agent, type: "error", code: error.code, message: error.message };
  return new Blob([`event: error\ndata: ${JSON.stringify(event)}\n\n`]).stream();
}

/** The turn stays and goes on with the answer, so the same request with its key returns the result later. */
function createWaitError(waits: readonly PersonWaits[]): Error {
  const approvals = waits.flatMap((wait) => wait.approvals);
  const questions = waits.flatMap((wait) => wait.questions);
  const [approval] = approvals;
  const [question] = questions;
  const reason = approval
    ? `The turn waits for a person's approval: ${formatAsk(approval.calls)}`
    : `The turn waits for an answer: ${question?.prompt ?? ""}`;
  return fail("conflict", reason, { approvals, questions });
}

function createOutcomeError({ agent, status, failure }: Outcome, hasSeveral: boolean): Error {
  // A retry would not help in these cases.
  const code: ErrorCode = status === "canceled" || failure?.code === "budget" ? "conflict" : "unavailable";
  const reason = failure?.message ?? (status === "canceled" ? "The turn was canceled." : "The turn failed.");
  const advice = failure?.advice;
  return fail(code, hasSeveral ? `${agent}: ${reason}` : reason, advice ? { suggestion: advice } : undefined);
}

function joinContents(outcomes: Outcome[]): string {
  const [first] = outcomes;
  if (first && outcomes.length === 1) return first.content;
  return outcomes.map(({ agent, content }) => `${agent}:\n${content}`).join("\n\n");
}

/** If one price is unknown, so is the total. */
function sumUsage(usages: UsageTotal[]): UsageTotal {
  const sumBy = (pick: (usage: UsageTotal) => number | undefined) =>
    usages.reduce((all, usage) => all + (pick(usage) ?? 0), 0);
  const isPriced = usages.every(({ costUsd }) => costUsd !== null);
  return {
    inputTokens: sumBy((usage) => usage.inputTokens),
    outputTokens: sumBy((usage) => usage.outputTokens),
    cachedInputTokens: sumBy((usage) => usage.cachedInputTokens),
    reasoningTokens: sumBy((usage) => usage.reasoningTokens),
    costUsd: isPriced ? roundUsd(sumBy((usage) => usage.costUsd ?? 0)) : null,
  };
}

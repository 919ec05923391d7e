import {
  formatAgentObjectName,
  endpoints,
  type ErrorCode,
  fail,
  type Invoke,
  isThinkeryError,
  type Job,
  type JobEvent,
  type Outcome,
  type UsageTotal,
} from "@thinkery/sdk";
import type { Hono } from "hono";
import type { System } from "../../system/system.ts";
import { readCallerContext } from "../caller-context.ts";
import { resolveAgents } from "../job.ts";
import { mergeEvents } from "../merge.ts";
import { toEventStreamResponse } from "../response.ts";
import { type HonoEnv, route } from "../route.ts";

/** One message to one agent or several, until all are done. The turns are durable: they go on when the caller leaves. */
export function addJobRoutes(app: Hono<HonoEnv>, system: System): void {
  route(app, endpoints.run, async ({ env, request, caller, body }) => {
    const places = await resolveAgents({ env, system, user: caller.user }, body);
    const from = { user: caller.user, context: readCallerContext(request) };
    const streams = await Promise.all(
      places.map(async ({ agency, agent }) => {
        const think = env.Think.getByName(formatAgentObjectName(agency, agent));
        const stream = think.conversation.converse(toInvoke(body), from, agent);
        return places.length === 1 ? stream : stream.catch((error: unknown) => createErrorStream(agent, error));
      }),
    );
    return toEventStreamResponse(streams.length === 1 && streams[0] ? streams[0] : mergeEvents(streams));
  });

  route(app, endpoints.serve, async ({ env, request, caller, body, release }) => {
    const places = await resolveAgents({ env, system, user: caller.user }, body);
    const from = { user: caller.user, context: readCallerContext(request) };
    const admitted = await Promise.all(
      places.map(async ({ agency, agent }) => {
        const think = env.Think.getByName(formatAgentObjectName(agency, agent));
        return { think, agent, runId: (await think.conversation.admit(toInvoke(body), from)).runId };
      }),
    );
    release();
    const outcomes = await Promise.all(
      admitted.map(async ({ think, agent, runId }) => ({ ...(await think.conversation.waitForOutcome(runId)), agent })),
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

function toInvoke({ message, idempotencyKey, mode, props }: Job): Invoke {
  return { message, mode, ...(idempotencyKey ? { idempotencyKey } : {}), ...(props ? { props } : {}) };
}

/** Where several agents work, one that could not be asked does not silence the others. */
function createErrorStream(agent: string, error: unknown): ReadableStream<Uint8Array> {
  if (!isThinkeryError(error)) throw error;
  const event: JobEvent = { agent, type: "error", code: error.code, message: error.message };
  return new Blob([`event: error\ndata: ${JSON.stringify(event)}\n\n`]).stream();
}

function createOutcomeError({ agent, status, failure }: Outcome, several: boolean): Error {
  // Asking again would help neither.
  const code: ErrorCode = status === "canceled" || failure?.code === "budget" ? "conflict" : "unavailable";
  const why = failure?.message ?? (status === "canceled" ? "The turn was canceled." : "The turn failed.");
  const advice = failure?.advice;
  return fail(code, several ? `${agent}: ${why}` : why, advice ? { suggestion: advice } : undefined);
}

function joinContents(outcomes: Outcome[]): string {
  const [first] = outcomes;
  if (first && outcomes.length === 1) return first.content;
  return outcomes.map(({ agent, content }) => `${agent}:\n${content}`).join("\n\n");
}

/** One unknown price makes the whole unknown. */
function sumUsage(usages: UsageTotal[]): UsageTotal {
  const sumBy = (pick: (usage: UsageTotal) => number | undefined) =>
    usages.reduce((all, usage) => all + (pick(usage) ?? 0), 0);
  const known = usages.every(({ costUsd }) => costUsd !== null);
  return {
    inputTokens: sumBy((usage) => usage.inputTokens),
    outputTokens: sumBy((usage) => usage.outputTokens),
    cachedInputTokens: sumBy((usage) => usage.cachedInputTokens),
    reasoningTokens: sumBy((usage) => usage.reasoningTokens),
    costUsd: known ? sumBy((usage) => usage.costUsd ?? 0) : null,
  };
}

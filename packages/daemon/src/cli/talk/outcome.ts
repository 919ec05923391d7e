import type { AgentEvent, AgentTarget, Outcome } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import { exitCodes } from "../exit.ts";
import { persist } from "../persist.ts";

const pageSize = 1000;

/** How a turn ended, read from the agent's log behind an event known to be earlier; nothing while it goes on. */
export async function readOutcome(
  client: Client,
  { agency, agent }: AgentTarget,
  runId: string,
  after: number,
): Promise<Outcome | undefined> {
  const page = (from: number) => {
    const query = { after: from, limit: pageSize };
    return persist((signal) => client.call("listEvents", { params: { agency, agent }, query, signal }));
  };
  const events: AgentEvent[] = [];
  for (let next: number | undefined = after; next !== undefined; ) {
    const found: Awaited<ReturnType<typeof page>> = await page(next);
    events.push(...(found.events as AgentEvent[]));
    next = found.next;
  }
  return outcomeIn(events, runId, agent);
}

/** Folds a turn's events into its outcome. */
export function outcomeIn(events: AgentEvent[], runId: string, agent: string): Outcome | undefined {
  const usage: Outcome["usage"] = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  const calls = new Map<string, Outcome["toolCalls"][number]>();
  let said = "";
  const ended = (rest: Pick<Outcome, "status"> & Partial<Outcome>): Outcome => ({
    runId,
    agent,
    content: said,
    toolCalls: Array.from(calls.values()),
    usage,
    ...rest,
  });
  for (const { type, data } of events) {
    if (!("runId" in data) || data.runId !== runId) continue;
    if (type === "model.started") said = "";
    else if (type === "model.delta") said += data.delta ?? "";
    else if (type === "model.completed") {
      add(usage, data.usage);
      for (const { id, name, input } of data.toolCalls) calls.set(id, { id, name, input });
    } else if (type === "tool.output" || type === "tool.error") {
      const call = calls.get(data.callId) ?? { id: data.callId, name: data.toolName, input: undefined };
      const came = type === "tool.output" ? { output: data.output } : { output: data.error, failed: true };
      calls.set(data.callId, { ...call, ...came });
    } else if (type === "agent.completed") return ended({ status: "completed", content: data.result });
    else if (type === "run.canceled") return ended({ status: "canceled" });
    else if (type === "agent.error") {
      const { code, error: message, advice } = data;
      return ended({ status: "error", failure: { code, message, ...(advice ? { advice } : {}) } });
    }
  }
  return undefined;
}

function add(total: Outcome["usage"], more: Outcome["usage"]): void {
  total.inputTokens += more.inputTokens;
  total.outputTokens += more.outputTokens;
  if (more.cachedInputTokens !== undefined) total.cachedInputTokens = (total.cachedInputTokens ?? 0) + more.cachedInputTokens;
  if (more.reasoningTokens !== undefined) total.reasoningTokens = (total.reasoningTokens ?? 0) + more.reasoningTokens;
  total.costUsd = total.costUsd === null || more.costUsd === null ? null : total.costUsd + more.costUsd;
}

export function exitCodeFor({ status, failure }: Outcome): number {
  if (status === "completed") return exitCodes.ok;
  return failure?.code === "steps" ? exitCodes.budget : exitCodes.failed;
}

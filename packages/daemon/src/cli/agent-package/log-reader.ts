import { type AgentLogLine, type AgentTarget, isThinkeryError, type LogLevel } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { wait } from "../wait.ts";

export interface LogQuery {
  after?: number;
  limit?: number;
  level?: LogLevel;
}

export interface LogPage {
  logs: AgentLogLine[];
  last: number;
}

export function readLog(client: Client, { agency, agent }: AgentTarget, query: LogQuery): Promise<LogPage> {
  return withRetry((signal) => client.call("listAgentLogs", { params: { agency, agent }, query, signal }));
}

const pollMs = 300;
const timeoutMs = 10_000;
const maxLinesPerPage = 500;

interface FollowOptions {
  /** Returns the current client: a restarted host may have another address. */
  client(): Client;
  target: AgentTarget;
  /** Lines after this one are reported. */
  after: number;
  level?: LogLevel | undefined;
  /** Without one, it goes on until the program ends. */
  signal?: AbortSignal;
  onLine(line: AgentLogLine): void;
}

/** Reports new lines of an agent's log until the signal aborts. Waits for a host or an agent that is not there. */
export async function followLog({
  client,
  target,
  after,
  level,
  signal = new AbortController().signal,
  onLine,
}: FollowOptions): Promise<void> {
  let last = after;
  while (!signal.aborted) {
    const query = { after: last, limit: maxLinesPerPage, ...(level ? { level } : {}) };
    const page = await readNext(client(), target, query, signal);
    if (signal.aborted) return;
    for (const line of page?.logs ?? []) onLine(line);
    last = page?.last ?? last;
    if ((page?.logs.length ?? 0) < maxLinesPerPage) await wait(pollMs, signal);
  }
}

async function readNext(
  client: Client,
  { agency, agent }: AgentTarget,
  query: LogQuery,
  stop: AbortSignal,
): Promise<LogPage | undefined> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
  try {
    return await client.call("listAgentLogs", { params: { agency, agent }, query, signal });
  } catch (error) {
    if (!isThinkeryError(error) || ["unavailable", "not_found", "rate_limited"].includes(error.code)) return undefined;
    throw error;
  }
}

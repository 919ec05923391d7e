import type { Agent } from "../protocol/agent.ts";
import type { ResponseOf, BodyIn, QueryIn } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { Message } from "../protocol/message.ts";
import type { AgentTarget } from "../protocol/target.ts";
import { createAppFetch } from "./app.ts";
import type { Caller } from "./caller.ts";
import { createId } from "./create-id.ts";
import { EventLogReader } from "./event-log-reader.ts";
import { type AgentFiles, createAgentFiles } from "./files.ts";
import type { EndpointFetch, HostFetch } from "./request.ts";
import { Turn } from "./turn.ts";
import { withRetry } from "./with-retry.ts";

/** How a handle reaches its host. */
export interface Transport {
  fetchEndpoint: EndpointFetch;
  fetchHost: HostFetch;
  call: Caller["call"];
  retryTimeoutMs: number;
}

/** What can be said to an agent: the body of `invoke`. */
export type NewMessage = BodyIn<Endpoints["invoke"]>;

export interface EventsOptions {
  /** The number of the last event already known; without it, only what comes from now on. */
  after?: number;
  signal?: AbortSignal;
}

/** One agent, and what can be done with it. */
export interface AgentHandle extends AgentFiles {
  readonly agency: string;
  readonly name: string;
  describe(): Promise<Agent>;
  /** Says something. Resolves when the agent has it for good; the turn goes on by itself. */
  send(said: string | NewMessage): Promise<Turn>;
  /** The numbered log as it grows, every event once, over any number of lost connections. */
  events(options?: EventsOptions): AsyncGenerator<AgentEvent>;
  /** A page of the conversation, the newest last; `next` goes back in as `before`. */
  messages(query?: QueryIn<Endpoints["listMessages"]>): Promise<ResponseOf<Endpoints["listMessages"]>>;
  /** The whole conversation, from the newest message to the oldest. */
  allMessages(): AsyncGenerator<Message>;
  state(): Promise<ResponseOf<Endpoints["getState"]>>;
  usage(): Promise<ResponseOf<Endpoints["getUsage"]>>;
  /** Ends a turn: the one that runs, if none is named. */
  cancel(runId?: string): Promise<ResponseOf<Endpoints["cancelTurn"]>>;
  /** Gives the result of a tool call that was deferred, or says why there is none. Safe to repeat. */
  resolveToolCall(
    callId: string,
    result: { output: unknown } | { error: string },
  ): Promise<ResponseOf<Endpoints["resolveToolCall"]>>;
  /** The app that the agent keeps, and where it answers. */
  app(): Promise<ResponseOf<Endpoints["getApp"]>>;
  /** Gives the agent an app, in place of the one it has. */
  putApp(app: BodyIn<Endpoints["putApp"]>): Promise<ResponseOf<Endpoints["putApp"]>>;
  deleteApp(): Promise<void>;
  /**
   * Asks the app itself: `fetchApp("items?done=1")`. Whatever it answers is given back, an error of its own included;
   * what the host says in its place is thrown.
   */
  fetchApp(path?: string, init?: RequestInit): Promise<Response>;
  /** The programs that it has running in its Linux sandbox, and the latest that ended. */
  processes(): Promise<ResponseOf<Endpoints["listProcesses"]>["processes"]>;
  /** One of them, with what it wrote; with `after`, only what it wrote after so many bytes. */
  process(id: string, query?: QueryIn<Endpoints["getProcess"]>): Promise<ResponseOf<Endpoints["getProcess"]>>;
  /** Ends one of them, with all that it started. */
  stopProcess(id: string): Promise<ResponseOf<Endpoints["stopProcess"]>>;
  /** Deletes the agent and all it remembers. */
  delete(): Promise<void>;
}

/** So long it may take to send what comes with megabytes of attachments. */
const sendTimeoutMs = 60_000;

export function createAgentHandle(
  { fetchEndpoint: ask, fetchHost: send, call, retryTimeoutMs }: Transport,
  target: AgentTarget,
): AgentHandle {
  const params = { agency: target.agency, agent: target.agent };
  const log = new EventLogReader({ ask, target, retryTimeoutMs });
  /** For what may be asked twice. */
  const retry = <T>(question: (signal: AbortSignal) => Promise<T>) => withRetry(question, { retryTimeoutMs });
  const fetchPage = (query: QueryIn<Endpoints["listMessages"]>) =>
    retry((signal) => call("listMessages", { params, query, signal }));

  return {
    agency: target.agency,
    name: target.agent,
    describe: () => retry((signal) => call("getAgent", { params, signal })),

    async send(said) {
      const given: NewMessage = typeof said === "string" ? { message: said } : said;
      const body = { ...given, idempotencyKey: given.idempotencyKey ?? createId() };
      const end = await retry((signal) => log.readEnd(signal));
      const { runId, messageId, duplicate } = await withRetry((signal) => call("invoke", { params, body, signal }), {
        retryTimeoutMs,
        ...(given.attachments ? { attemptTimeoutMs: sendTimeoutMs } : {}),
      });
      // A key of the caller's own may have been admitted long ago. One of ours can only be known from an answer that was lost.
      const after = duplicate && given.idempotencyKey !== undefined ? 0 : end;
      return new Turn({
        log,
        agent: target.agent,
        runId,
        messageId,
        after,
        cancel: (turn) => cancel(turn).then(() => {}),
      });
    },

    events: ({ after, signal } = {}) => log.follow(after, signal),
    messages: (query = {}) => fetchPage(query),

    async *allMessages() {
      let before: number | undefined;
      do {
        const { messages, next } = await fetchPage({ limit: 500, ...(before === undefined ? {} : { before }) });
        yield* messages.toReversed();
        before = next === undefined ? undefined : Number(next);
      } while (before !== undefined);
    },

    state: () => retry((signal) => call("getState", { params, signal })),
    usage: () => retry((signal) => call("getUsage", { params, signal })),
    cancel,
    resolveToolCall: (callId, result) =>
      retry((signal) => call("resolveToolCall", { params, body: { callId, ...result }, signal })),
    app: () => retry((signal) => call("getApp", { params, signal })),
    putApp: (app) => retry((signal) => call("putApp", { params, body: app, signal })),
    deleteApp: () => call("deleteApp", { params }),
    fetchApp: createAppFetch(send, params),
    processes: async () => (await retry((signal) => call("listProcesses", { params, signal }))).processes,
    process: (id, query = {}) => retry((signal) => call("getProcess", { params: { ...params, id }, query, signal })),
    stopProcess: (id) => retry((signal) => call("stopProcess", { params: { ...params, id }, signal })),
    ...createAgentFiles({ call, send, retryTimeoutMs }, params),
    delete: () => call("deleteAgent", { params }),
  };

  // Asked twice, the second time might end the turn after the one that was meant, unless it is named.
  function cancel(runId?: string) {
    if (runId === undefined) return call("cancelTurn", { params });
    return retry((signal) => call("cancelTurn", { params, body: { runId }, signal }));
  }
}

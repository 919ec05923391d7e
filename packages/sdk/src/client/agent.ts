import type { Agent } from "../protocol/agent.ts";
import type { AnswerOf, BodyIn, QueryIn } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { Message } from "../protocol/message.ts";
import type { AgentTarget } from "../protocol/target.ts";
import type { Caller } from "./caller.ts";
import { Log } from "./log.ts";
import { newId } from "./new-id.ts";
import { persist } from "./persist.ts";
import { fetchingApp } from "./app.ts";
import { type AgentFiles, filesOf } from "./files.ts";
import type { Ask, Send } from "./request.ts";
import { Turn } from "./turn.ts";

/** How a handle reaches its host. */
export interface Reach {
  ask: Ask;
  send: Send;
  call: Caller["call"];
  patience: number;
}

/** What can be said to an agent: the body of `invoke`. */
export type ToSend = BodyIn<Endpoints["invoke"]>;

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
  send(said: string | ToSend): Promise<Turn>;
  /** The numbered log as it grows, every event once, over any number of lost connections. */
  events(options?: EventsOptions): AsyncGenerator<AgentEvent>;
  /** A page of the conversation, the newest last; `next` goes back in as `before`. */
  messages(query?: QueryIn<Endpoints["listMessages"]>): Promise<AnswerOf<Endpoints["listMessages"]>>;
  /** The whole conversation, from the newest message to the oldest. */
  allMessages(): AsyncGenerator<Message>;
  state(): Promise<AnswerOf<Endpoints["getState"]>>;
  usage(): Promise<AnswerOf<Endpoints["getUsage"]>>;
  /** Ends a turn: the one that runs, if none is named. */
  cancel(runId?: string): Promise<AnswerOf<Endpoints["cancelTurn"]>>;
  /** Gives the result of a tool call that was deferred, or says why there is none. Safe to repeat. */
  resolveToolCall(callId: string, result: { output: unknown } | { error: string }): Promise<AnswerOf<Endpoints["resolveToolCall"]>>;
  /** The app that the agent keeps, and where it answers. */
  app(): Promise<AnswerOf<Endpoints["getApp"]>>;
  /** Gives the agent an app, in place of the one it has. */
  putApp(app: BodyIn<Endpoints["putApp"]>): Promise<AnswerOf<Endpoints["putApp"]>>;
  deleteApp(): Promise<void>;
  /**
   * Asks the app itself: `fetchApp("items?done=1")`. Whatever it answers is given back, an error of its own included;
   * what the host says in its place is thrown.
   */
  fetchApp(path?: string, init?: RequestInit): Promise<Response>;
  /** The programs that it has running in its Linux sandbox, and the latest that ended. */
  processes(): Promise<AnswerOf<Endpoints["listProcesses"]>["processes"]>;
  /** One of them, with what it wrote; with `after`, only what it wrote after so many bytes. */
  process(id: string, query?: QueryIn<Endpoints["getProcess"]>): Promise<AnswerOf<Endpoints["getProcess"]>>;
  /** Ends one of them, with all that it started. */
  stopProcess(id: string): Promise<AnswerOf<Endpoints["stopProcess"]>>;
  /** Deletes the agent and all it remembers. */
  delete(): Promise<void>;
}

/** So long it may take to send what comes with megabytes of attachments. */
const sendLimit = 60_000;

export function agentHandle({ ask, send, call, patience }: Reach, target: AgentTarget): AgentHandle {
  const params = { agency: target.agency, agent: target.agent };
  const log = new Log({ ask, target, patience });
  /** For what may be asked twice. */
  const again = <T>(question: (signal: AbortSignal) => Promise<T>) => persist(question, { patience });
  const page = (query: QueryIn<Endpoints["listMessages"]>) => again((signal) => call("listMessages", { params, query, signal }));

  return {
    agency: target.agency,
    name: target.agent,
    describe: () => again((signal) => call("getAgent", { params, signal })),

    async send(said) {
      const given: ToSend = typeof said === "string" ? { message: said } : said;
      const body = { ...given, idempotencyKey: given.idempotencyKey ?? newId() };
      const end = await again((signal) => log.end(signal));
      const { runId, messageId, duplicate } = await persist((signal) => call("invoke", { params, body, signal }), {
        patience,
        ...(given.attachments ? { attempt: sendLimit } : {}),
      });
      // A key of the caller's own may have been admitted long ago. One of ours can only be known from an answer that was lost.
      const after = duplicate && given.idempotencyKey !== undefined ? 0 : end;
      return new Turn({ log, agent: target.agent, runId, messageId, after, cancel: (turn) => cancel(turn).then(() => {}) });
    },

    events: ({ after, signal } = {}) => log.follow(after, signal),
    messages: (query = {}) => page(query),

    async *allMessages() {
      let before: number | undefined;
      do {
        const { messages, next } = await page({ limit: 500, ...(before === undefined ? {} : { before }) });
        yield* messages.toReversed();
        before = next === undefined ? undefined : Number(next);
      } while (before !== undefined);
    },

    state: () => again((signal) => call("getState", { params, signal })),
    usage: () => again((signal) => call("getUsage", { params, signal })),
    cancel,
    resolveToolCall: (callId, result) => again((signal) => call("resolveToolCall", { params, body: { callId, ...result }, signal })),
    app: () => again((signal) => call("getApp", { params, signal })),
    putApp: (app) => again((signal) => call("putApp", { params, body: app, signal })),
    deleteApp: () => call("deleteApp", { params }),
    fetchApp: fetchingApp(send, params),
    processes: async () => (await again((signal) => call("listProcesses", { params, signal }))).processes,
    process: (id, query = {}) => again((signal) => call("getProcess", { params: { ...params, id }, query, signal })),
    stopProcess: (id) => again((signal) => call("stopProcess", { params: { ...params, id }, signal })),
    ...filesOf({ call, send, patience }, params),
    delete: () => call("deleteAgent", { params }),
  };

  // Asked twice, the second time might end the turn after the one that was meant, unless it is named.
  function cancel(runId?: string) {
    if (runId === undefined) return call("cancelTurn", { params });
    return again((signal) => call("cancelTurn", { params, body: { runId }, signal }));
  }
}

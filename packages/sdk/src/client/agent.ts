import type { Agent } from "../protocol/agent.ts";
import type { Approval } from "../protocol/approval.ts";
import type { ResponseOf, BodyIn, QueryIn } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { Message } from "../protocol/message.ts";
import type { Subagent } from "../protocol/subagent.ts";
import type { AgentTarget } from "../protocol/target.ts";
import type { CreatedWebhook, Webhook } from "../protocol/webhook.ts";
import { createAppFetch } from "./app.ts";
import { createId } from "./create-id.ts";
import { EventLogReader } from "./event-log-reader.ts";
import { type AgentFiles, createAgentFiles } from "./files.ts";
import { type AgentSchedules, createAgentSchedules } from "./schedules.ts";
import type { Transport } from "./transport.ts";
import { Turn } from "./turn.ts";
import { withRetry } from "./with-retry.ts";

/** A message to an agent, with attachments and options: the body of `invoke`. */
export type NewMessage = BodyIn<Endpoints["invoke"]>;

export interface EventsOptions {
  /** The number of the last known event. Without it, only new events are returned. */
  after?: number;
  signal?: AbortSignal;
}

/** A handle to one agent. Methods throw a `ThinkeryError` if the host refuses the request or stays unavailable. */
export interface AgentHandle extends AgentFiles {
  readonly agency: string;
  readonly name: string;
  describe(): Promise<Agent>;
  /**
   * Sends a message. Resolves when the agent has stored it; the turn then runs by itself, whether or not anyone follows
   * it.
   *
   * ```ts
   * const turn = await agent.send("Hello!");
   * const { content } = await turn.outcome();
   * ```
   */
  send(message: string | NewMessage): Promise<Turn>;
  /** Follows the event log: yields each event once and in order, reconnecting as needed. */
  events(options?: EventsOptions): AsyncGenerator<AgentEvent>;
  /** Returns a page of the conversation, newest message last. Pass `next` as `before` for the page before it. */
  messages(query?: QueryIn<Endpoints["listMessages"]>): Promise<ResponseOf<Endpoints["listMessages"]>>;
  /** Iterates over the whole conversation, newest message first. */
  allMessages(): AsyncGenerator<Message>;
  state(): Promise<ResponseOf<Endpoints["getState"]>>;
  usage(): Promise<ResponseOf<Endpoints["getUsage"]>>;
  /** Cancels a turn: the running one, unless another is named. */
  cancel(runId?: string): Promise<ResponseOf<Endpoints["cancelTurn"]>>;
  /** Stops the agent: cancels its turn and refuses new messages until `start()`. Queued turns wait. */
  stop(): Promise<ResponseOf<Endpoints["stopAgent"]>>;
  /** Starts a stopped agent again. */
  start(): Promise<ResponseOf<Endpoints["startAgent"]>>;
  /** Delivers the result or the error of a deferred tool call. Safe to repeat. */
  resolveToolCall(
    callId: string,
    result: { output: unknown } | { error: string },
  ): Promise<ResponseOf<Endpoints["resolveToolCall"]>>;
  /** Returns the agent's approvals, newest first: all of them, those with a status, or at most `limit`. */
  approvals(query?: QueryIn<Endpoints["listAgentApprovals"]>): Promise<Approval[]>;
  /** Approves or denies tool calls. Fails if somebody else has answered. Needs a token with the scope `approve`. */
  approve(answer: BodyIn<Endpoints["approve"]>): Promise<Approval>;
  /** Answers a question of the agent: the only open one, unless another is named. */
  answer(value: unknown, continuationId?: string): Promise<ResponseOf<Endpoints["answerQuestion"]>>;
  /** Returns the agent's tasks, as whole trees: open and recently finished ones, or the archive. */
  tasks(query?: QueryIn<Endpoints["listTasks"]>): Promise<ResponseOf<Endpoints["listTasks"]>>;
  /** Creates a task: a subtask of another one, or the root of a new tree. */
  createTask(task: string | BodyIn<Endpoints["createTask"]>): Promise<ResponseOf<Endpoints["createTask"]>>;
  /** Starts, completes, fails, cancels, blocks or releases a task, or changes what it depends on. */
  updateTask(id: string, change: BodyIn<Endpoints["updateTask"]>): Promise<ResponseOf<Endpoints["updateTask"]>>;
  /** The agent's schedules. */
  schedules(): AgentSchedules;
  /** Returns the agent's sub-agents, newest first. */
  subagents(): Promise<Subagent[]>;
  /** Delegates a task to a sub-agent, which works in the background. The same task again is the same sub-agent. */
  spawn(task: string | BodyIn<Endpoints["spawnSubagent"]>): Promise<ResponseOf<Endpoints["spawnSubagent"]>>;
  /** Returns a handle to a sub-agent, by its `facetName`. It has the files of its root agent, and no app. */
  sub(name: string): AgentHandle;
  /** Returns the agent's webhooks, without their secrets. */
  webhooks(): Promise<Webhook[]>;
  /** Creates a webhook: `url` is a path of the host, `secret` is what senders sign with. Needs the scope `admin`. */
  createWebhook(name: string): Promise<CreatedWebhook>;
  deleteWebhook(name: string): Promise<void>;
  /** Returns the agent's app: its version, its modules and its address. */
  app(): Promise<ResponseOf<Endpoints["getApp"]>>;
  /** Sets the agent's app, replacing the current one. */
  putApp(app: BodyIn<Endpoints["putApp"]>): Promise<ResponseOf<Endpoints["putApp"]>>;
  deleteApp(): Promise<void>;
  /**
   * Sends a request to the app: `fetchApp("items?done=1")`. Returns the app's response, even if its status is an error.
   * Throws if the host responds in its place.
   */
  fetchApp(path?: string, init?: RequestInit): Promise<Response>;
  /** Lists the processes in the agent's Linux sandbox: the running ones, and those that ended recently. */
  processes(): Promise<ResponseOf<Endpoints["listProcesses"]>["processes"]>;
  /** Returns a process with its output. With `after`, only the output after that many bytes. */
  process(id: string, query?: QueryIn<Endpoints["getProcess"]>): Promise<ResponseOf<Endpoints["getProcess"]>>;
  /** Stops a process and everything it started. */
  stopProcess(id: string): Promise<ResponseOf<Endpoints["stopProcess"]>>;
  /** Deletes the agent and all of its data. */
  delete(): Promise<void>;
}

/** Timeout for messages with attachments, which may have megabytes. */
const attachmentTimeoutMs = 60_000;

export function createAgentHandle(
  { fetchEndpoint, fetchHost, call, retryTimeoutMs }: Transport,
  target: AgentTarget,
): AgentHandle {
  const params = { agency: target.agency, agent: target.agent };
  const log = new EventLogReader({ fetchEndpoint, target, retryTimeoutMs });
  /** For idempotent requests only. */
  const retry = <T>(request: (signal: AbortSignal) => Promise<T>) => withRetry(request, { retryTimeoutMs });
  const fetchPage = (query: QueryIn<Endpoints["listMessages"]>) =>
    retry((signal) => call("listMessages", { params, query, signal }));

  return {
    agency: target.agency,
    name: target.agent,
    describe: () => retry((signal) => call("getAgent", { params, signal })),

    async send(message) {
      const input: NewMessage = typeof message === "string" ? { message } : message;
      const body = { ...input, idempotencyKey: input.idempotencyKey ?? createId() };
      const end = await retry((signal) => log.readEnd(signal));
      const { runId, messageId, duplicate } = await withRetry((signal) => call("invoke", { params, body, signal }), {
        retryTimeoutMs,
        ...(input.attachments ? { attemptTimeoutMs: attachmentTimeoutMs } : {}),
      });
      // A key of the caller may have been admitted long ago. One of ours is a duplicate only if a response was lost.
      const after = duplicate && input.idempotencyKey !== undefined ? 0 : end;
      return new Turn({
        log,
        agent: target.agent,
        runId,
        messageId,
        after,
        cancel: (id) => cancel(id).then(() => {}),
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
    stop: () => retry((signal) => call("stopAgent", { params, signal })),
    start: () => retry((signal) => call("startAgent", { params, signal })),
    resolveToolCall: (callId, result) =>
      retry((signal) => call("resolveToolCall", { params, body: { callId, ...result }, signal })),
    async approvals(query = {}) {
      const all: Approval[] = [];
      let after = query.after;
      do {
        const page = { ...query, ...(after === undefined ? {} : { after }) };
        const { approvals, next } = await retry((signal) =>
          call("listAgentApprovals", { params, query: page, signal }),
        );
        all.push(...approvals);
        after = next;
      } while (after !== undefined && query.limit === undefined);
      return all;
    },
    // Not repeated: a second answer to the same approval is an error.
    approve: (body) => call("approve", { params, body }),
    answer: (value, continuationId) =>
      call("answerQuestion", { params, body: { value, ...(continuationId === undefined ? {} : { continuationId }) } }),
    tasks: (query = {}) => retry((signal) => call("listTasks", { params, query, signal })),
    createTask: (task) => call("createTask", { params, body: typeof task === "string" ? { title: task } : task }),
    updateTask: (id, body) => call("updateTask", { params: { ...params, task: id }, body }),
    schedules: () => createAgentSchedules({ call, retryTimeoutMs }, params),
    subagents: async () => (await retry((signal) => call("listSubagents", { params, signal }))).subagents,
    spawn: (task) =>
      retry((signal) =>
        call("spawnSubagent", { params, body: typeof task === "string" ? { taskId: task } : task, signal }),
      ),
    sub: (name) =>
      createAgentHandle(
        { fetchEndpoint, fetchHost, call, retryTimeoutMs },
        { ...target, agent: `${target.agent}/${name}` },
      ),
    webhooks: async () => (await retry((signal) => call("listWebhooks", { params, signal }))).hooks,
    // Not repeated: the secret is only in the first response.
    createWebhook: (name) => call("createWebhook", { params, body: { name } }),
    deleteWebhook: (name) => call("deleteWebhook", { params: { ...params, name } }),
    app: () => retry((signal) => call("getApp", { params, signal })),
    putApp: (app) => retry((signal) => call("putApp", { params, body: app, signal })),
    deleteApp: () => call("deleteApp", { params }),
    fetchApp: createAppFetch(fetchHost, params),
    processes: async () => (await retry((signal) => call("listProcesses", { params, signal }))).processes,
    process: (id, query = {}) => retry((signal) => call("getProcess", { params: { ...params, id }, query, signal })),
    stopProcess: (id) => retry((signal) => call("stopProcess", { params: { ...params, id }, signal })),
    ...createAgentFiles({ call, fetchHost, retryTimeoutMs }, params),
    delete: () => call("deleteAgent", { params }),
  };

  // Without a turn id, a retry might cancel the turn after the one that was meant.
  function cancel(runId?: string) {
    if (runId === undefined) return call("cancelTurn", { params });
    return retry((signal) => call("cancelTurn", { params, body: { runId }, signal }));
  }
}

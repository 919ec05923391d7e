import type { ChannelMessage } from "../protocol/channel.ts";
import { fail } from "../protocol/errors.ts";
import type { JobEvent } from "../protocol/job-event.ts";
import type { TeamAgent } from "../protocol/team.ts";
import type { WorkflowRun } from "../protocol/workflow-run.ts";
import { Backoff } from "./backoff.ts";
import { isFinalError, readEventStream } from "./event-stream.ts";
import { sleep } from "./sleep.ts";
import type { Transport } from "./transport.ts";
import { withRetry } from "./with-retry.ts";

/** A handle to the run of a workflow. */
export interface WorkflowRunHandle {
  readonly agency: string;
  describe(): Promise<WorkflowRun>;
  /** Stops the run: turns are canceled, messages wait until `start()`. */
  stop(): Promise<WorkflowRun>;
  /** Resumes a run that was stopped. */
  start(): Promise<WorkflowRun>;
  /**
   * Follows the run until it ends or is stopped, reconnecting as needed. Yields what its agents are doing, the messages since the run
   * began, each once and in order, and then everything that happens. What agents do while there is no connection is
   * only seen in their state and in their messages. The last event is the `done` that has the `run`, or an `error`.
   */
  events(options?: FollowOptions): AsyncGenerator<JobEvent>;
}

export interface FollowOptions {
  signal?: AbortSignal;
  /** How many of the messages before now are yielded at most. Defaults to all of them. */
  maxEarlierMessages?: number;
  /** Called when the connection is lost, and when it is there again. */
  onConnection?(isConnected: boolean): void;
}

const finalStatuses: ReadonlySet<WorkflowRun["status"]> = new Set(["completed", "failed", "stopped"]);

export const isRunOver = ({ status }: Pick<WorkflowRun, "status">) => finalStatuses.has(status);

export function createWorkflowRunHandle(transport: Transport, agency: string): WorkflowRunHandle {
  const { call, retryTimeoutMs } = transport;
  const params = { agency };
  const retry = <T>(request: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal) =>
    withRetry(request, { retryTimeoutMs, ...(signal ? { signal } : {}) });
  return {
    agency,
    describe: () => retry((signal) => call("getWorkflowRun", { params, signal })),
    stop: () => retry((signal) => call("stopWorkflowRun", { params, signal })),
    start: () => retry((signal) => call("startWorkflowRun", { params, signal })),
    events: (options = {}) => followRun(transport, agency, options),
  };
}

async function* followRun(
  transport: Transport,
  agency: string,
  { signal, maxEarlierMessages: maxMessages = Infinity, onConnection }: FollowOptions,
): AsyncGenerator<JobEvent> {
  const { fetchEndpoint, retryTimeoutMs } = transport;
  const backoff = new Backoff();
  let unavailableSince: number | undefined;
  let lastMessage: number | undefined;
  for (;;) {
    let lastError: unknown;
    try {
      const chunks = readEventStream({
        fetchEndpoint,
        endpoint: "followWorkflowRun",
        params: { agency },
        signal,
      });
      let isOpen = false;
      for await (const blocks of chunks) {
        if (!isOpen) {
          isOpen = true;
          // Everything from now on is in the stream, so nothing is missed between the two.
          const state = await readState(transport, agency, { after: lastMessage, maxMessages, signal });
          if (unavailableSince !== undefined) onConnection?.(true);
          unavailableSince = undefined;
          for (const status of state.agents) yield { type: "status", agent: status.name, status };
          const isFirst = lastMessage === undefined;
          const messages = isFirst
            ? state.messages.slice(Math.max(0, state.messages.length - maxMessages))
            : state.messages;
          lastMessage = Math.max(lastMessage ?? 0, ...state.messages.map(readNumber));
          for (const message of messages) yield { type: "message", agent: message.from, message };
          if (isRunOver(state.run)) return yield toDone(state.run);
        }
        for (const { data } of blocks) {
          if (data === undefined) continue;
          backoff.reset();
          const event = JSON.parse(data) as JobEvent;
          if (event.type === "message") {
            const number = readNumber(event.message);
            if (lastMessage !== undefined && number <= lastMessage) continue;
            lastMessage = number;
          }
          yield event;
          // Each agent has an end of its own before that of the run.
          if (event.type === "error" || (event.type === "done" && event.run)) return;
          // A run that is stopped may be resumed, so its stream goes on.
          if (event.type !== "status" || event.status.status !== "stopped") continue;
          const run = await transport.call("getWorkflowRun", { params: { agency }, ...(signal ? { signal } : {}) });
          if (isRunOver(run)) return yield toDone(run);
        }
      }
    } catch (error) {
      if (signal?.aborted || isFinalError(error)) throw error;
      lastError = error;
    }
    if (unavailableSince === undefined) onConnection?.(false);
    unavailableSince ??= performance.now();
    if (performance.now() - unavailableSince > retryTimeoutMs)
      throw lastError ?? fail("unavailable", "The host closes every connection.");
    await sleep(backoff.next(), signal);
  }
}

interface RunState {
  run: WorkflowRun;
  agents: TeamAgent[];
  messages: ChannelMessage[];
}

/** Reads the run with its messages since the last one that is known; at first the latest ones since it began. */
async function readState(
  { call }: Transport,
  agency: string,
  { after, maxMessages, signal }: { after: number | undefined; maxMessages: number; signal: AbortSignal | undefined },
): Promise<RunState> {
  const params = { agency };
  const options = signal ? { signal } : {};
  const run = await call("getWorkflowRun", { params, ...options });
  const channels = await readPages(async (query) => {
    const { channels: items, next } = await call("listChannels", { params, query, ...options });
    return { items, next };
  });
  const since = after === undefined ? run.startedAt : `msg-${after}`;
  const messages: ChannelMessage[] = [];
  for (const { name: channel } of channels) {
    if (after === undefined && maxMessages < maxPage) {
      const query = { since, newest: "1" as const, limit: Math.max(1, maxMessages) };
      messages.push(
        ...(await call("listChannelMessages", { params: { agency, channel }, query, ...options })).messages,
      );
      continue;
    }
    const all = await readPages(async (page) => {
      const query = { ...page, since };
      const found = await call("listChannelMessages", { params: { agency, channel }, query, ...options });
      return { items: found.messages, next: found.next };
    });
    messages.push(...all);
  }
  const members = await readPages(async (query) => {
    const { members: items, next } = await call("listMembers", { params, query, ...options });
    return { items, next };
  });
  const agents = members.flatMap((member) => (member.kind === "agent" ? [member] : []));
  return { run, agents, messages: messages.toSorted((a, b) => readNumber(a) - readNumber(b)) };
}

const maxPage = 500;

async function readPages<Item>(
  readPage: (query: { limit: number; after?: string }) => Promise<{ items: Item[]; next?: string | undefined }>,
): Promise<Item[]> {
  const all: Item[] = [];
  let after: string | undefined;
  do {
    const { items, next }: Awaited<ReturnType<typeof readPage>> = await readPage({
      limit: maxPage,
      ...(after === undefined ? {} : { after }),
    });
    all.push(...items);
    after = next;
  } while (after !== undefined);
  return all;
}

const readNumber = ({ id }: ChannelMessage) => Number(/\d+$/.exec(id)?.[0] ?? 0);

function toDone(run: WorkflowRun): JobEvent {
  const { status, result = "", reason, message, usage } = run;
  return {
    type: "done",
    agent: run.agency,
    runId: run.agency,
    status: status === "completed" || status === "failed" ? status : "stopped",
    content: result,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    usage,
    run,
  };
}

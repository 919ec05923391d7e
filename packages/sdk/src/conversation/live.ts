import {
  type AgentSocket,
  openAgentSocket,
  type AgentSocketOptions,
  type AgentSocketState,
} from "../client/agent-socket.ts";
import { type Caller, createCaller } from "../client/caller.ts";
import { createId } from "../client/create-id.ts";
import { fillPath } from "../client/request.ts";
import { positionsPerEvent } from "../internal/event-position.ts";
import type { ApprovalAnswer } from "../protocol/approval.ts";
import type { Mode } from "../protocol/choices.ts";
import type { Continuation } from "../protocol/continuation.ts";
import { getDefaultAgency, readTokenUser } from "../protocol/default-agency.ts";
import { isThinkeryError } from "../protocol/errors.ts";
import { routes } from "../protocol/routes.ts";
import { parseAgentTarget } from "../protocol/target.ts";
import type { NewAttachment } from "../protocol/turn.ts";
import { createBatcher } from "./batcher.ts";
import { emptyConversation, type Conversation, type Frame } from "./conversation.ts";
import { prependHistory } from "./history.ts";
import { loadWaits } from "./load-waits.ts";
import { createMemoryOutbox, type Outbox, type UnsentMessage } from "./outbox.ts";
import { removeMessage, receive, addUnsent } from "./receive.ts";
import { backfillEvents } from "./reduce.ts";
import { mergeSubagents } from "./subagents.ts";
import { fromState } from "./tasks.ts";
import { mergeWaits } from "./waits.ts";

export interface LiveOptions {
  /** For example `alice`, `alice@review` or `alice@review:pr-123`. */
  agent: string;
  /** The agency, if `agent` does not include it. */
  agency?: string;
  /** The URL of the host. Defaults to the origin of the page. */
  url?: string;
  /**
   * Requires `connect`, because a browser's WebSocket cannot send a token. Pages authenticate with their cookie, or let
   * their backend add the token.
   */
  token?: string;
  /** Creates a WebSocket that can send headers, such as that of `ws`. */
  connect?: AgentSocketOptions["connect"];
  /** Used for requests other than the WebSocket. Created if omitted. */
  client?: Caller;
  /** Stores messages until they are confirmed, for example across reloads. Defaults to memory. */
  outbox?: Outbox;
}

export type Connection = { state: "connecting" | "open" | "lost" } | { state: "refused"; reason: string };

export interface SendOptions {
  mode?: Mode;
  attachments?: NewAttachment[];
}

/** The state of a live conversation at one point in time. */
export interface Snapshot {
  conversation: Conversation;
  connection: Connection;
}

/** The host closes the connection on longer frames, so such a message could never be delivered. */
const maxMessageChars = 1_000_000;

/** How often something is loaded again because it changed meanwhile. */
const maxLoadAttempts = 5;

/** How many past events to load for details that messages do not contain. */
const maxBackfillEvents = 2000;
const backfillPageSize = 500;

/**
 * A conversation with an agent that is kept up to date while it is open. The constructor has no side effects.
 *
 * ```ts
 * const live = new LiveConversation({ agent: "alice" });
 * const unsubscribe = live.subscribe(() => render(live.get()));
 * const close = live.open();
 * live.send("Hello!");
 * ```
 */
export class LiveConversation {
  readonly #options: LiveOptions;
  readonly #params: { agency: string; agent: string };
  readonly #outbox: Outbox;
  readonly #client: Caller;
  readonly #listeners = new Set<() => void>();
  readonly #frames = createBatcher<Frame>((frames) => this.#receive(frames));
  #snapshot: Snapshot = { conversation: emptyConversation, connection: { state: "connecting" } };
  #isOpen = false;
  #socket: AgentSocket | undefined;
  /** The number of the last event received. */
  #after: number | undefined;
  /** All events after this one were received or backfilled. */
  #knownFrom: number | undefined;
  #loading: Promise<void> | undefined;

  constructor(options: LiveOptions) {
    const { agency, agent } = parseAgentTarget(
      options.agency === undefined ? options.agent : `${options.agent}@${options.agency}`,
      getDefaultAgency(readTokenUser(options.token)),
    );
    this.#options = options;
    this.#params = { agency, agent };
    this.#outbox = options.outbox ?? createMemoryOutbox();
    this.#client =
      options.client ??
      createCaller({ url: options.url ?? "", ...(options.token === undefined ? {} : { token: options.token }) });
  }

  /** Returns the current snapshot. It is a new object after every change. */
  get = (): Snapshot => this.#snapshot;

  /** Calls the listener after every change. Returns an unsubscribe function. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Connects, and reconnects as needed. Returns a function that disconnects; `open` can be called again after it. */
  open = (): (() => void) => {
    this.#isOpen = true;
    // React's StrictMode opens, closes and opens synchronously. That should make only one connection.
    queueMicrotask(() => this.#isOpen && !this.#socket && this.#connect());
    return () => {
      this.#isOpen = false;
      this.#disconnect();
    };
  };

  /** Reconnects now instead of waiting for the next attempt. */
  reconnect = (): void => {
    if (!this.#isOpen) return;
    this.#disconnect();
    this.#connect();
  };

  /**
   * Sends a message and returns its id. It is sent again until the agent confirms it. Returns undefined if the message
   * is too long; `conversation.error` says so.
   */
  send = (content: string, { mode = "queue", attachments }: SendOptions = {}): string | undefined => {
    const unsent: UnsentMessage = {
      id: createId(),
      content,
      ...(attachments ? { attachments } : {}),
      mode,
      at: Date.now(),
    };
    const size = JSON.stringify(unsent).length;
    if (size > maxMessageChars) {
      const message = `This message is too long: it has ${size.toLocaleString("en")} characters, and the limit is ${maxMessageChars.toLocaleString("en")}.`;
      this.#updateConversation((conversation) => ({
        ...conversation,
        error: { message, advice: "Shorten it, or send it in parts." },
      }));
      return undefined;
    }
    this.#outbox.add(unsent);
    this.#sendUnsent(unsent);
    return unsent.id;
  };

  /** Removes a message that was refused. */
  unsend = (id: string): void => {
    this.#outbox.remove(id);
    this.#updateConversation((conversation) => removeMessage(conversation, id));
  };

  /** Cancels a turn: the running one, unless another is named. */
  cancel = (runId?: string): void => {
    const id = runId ?? this.#snapshot.conversation.run;
    this.#socket?.send({ type: "cancel", ...(id === undefined ? {} : { runId: id }) });
  };

  /** Approves or denies tool calls: those of the only pending approval, unless another is named. */
  approve = (approvalId: string | undefined, answer: Partial<Omit<ApprovalAnswer, "approvalId">>): void => {
    const named = approvalId === undefined ? {} : { approvalId };
    this.#socket?.send({ type: "approve", remember: "once", ...named, ...answer });
  };

  /** Answers a question of the agent: the only open one, unless another is named. */
  answer = (continuationId: string | undefined, value: unknown): void => {
    this.#socket?.send({ type: "answer", ...(continuationId === undefined ? {} : { continuationId }), value });
  };

  /** Loads a page of older messages. */
  loadOlder = (): Promise<void> => (this.#loading ??= this.#loadOlderPage().finally(() => (this.#loading = undefined)));

  #connect(): void {
    const { token, connect } = this.#options;
    if (token !== undefined && !connect) {
      const reason =
        "A browser’s WebSocket cannot send a token. Let the page’s backend add it, or pass a `connect` function that can.";
      return this.#update({ connection: { state: "refused", reason } });
    }
    const socket = openAgentSocket({
      url: toSocketUrl(this.#options.url ?? "", fillPath(routes.openSocket.path, this.#params)),
      ...(token === undefined ? {} : { token }),
      ...(connect ? { connect } : {}),
      ...(this.#after === undefined ? {} : { after: this.#after }),
      onFrame: (frame) => {
        if ("seq" in frame) this.#after = frame.seq;
        else if (frame.type === "sync") this.#after = frame.last;
        this.#knownFrom ??= this.#after;
        this.#frames.add(frame);
      },
      onConnection: (state, reason) => this.#socket === socket && this.#handleConnection(state, reason),
    });
    this.#socket = socket;
    for (const unsent of this.#outbox.read()) this.#sendUnsent(unsent);
  }

  #disconnect(): void {
    this.#socket?.close();
    this.#socket = undefined;
    // After closing, nothing may change any more.
    this.#frames.flush();
  }

  #sendUnsent({ id, content, attachments, mode, at }: UnsentMessage): void {
    this.#updateConversation((conversation) => addUnsent(conversation, id, content, at));
    this.#socket?.send({ type: "chat", id, content, mode, ...(attachments ? { attachments } : {}) });
  }

  #receive(frames: readonly Frame[]): void {
    this.#updateConversation((conversation) => frames.reduce(receive, conversation));
    for (const frame of frames) {
      if (frame.type === "history") void this.#backfill();
      if ((frame.type === "task-queued" || frame.type === "error") && frame.id !== undefined)
        this.#outbox.remove(frame.id);
    }
  }

  #handleConnection(state: AgentSocketState, reason = "The host refused the connection."): void {
    this.#update({ connection: state === "refused" ? { state, reason } : { state } });
    if (state !== "refused") void this.#loadState();
  }

  // The socket only sends changes, so the state from before, such as the todos, is loaded when it opens. Also, browsers
  // do not reveal why a WebSocket was refused, but the response to this request does.
  async #loadState(): Promise<void> {
    const socket = this.#socket;
    const before = this.#snapshot.conversation;
    const response = await this.#client.call("getState", { params: this.#params }).catch((error: unknown) => {
      if (socket === this.#socket && isRefusal(error)) this.#refuse(error.message);
    });
    if (!response || socket !== this.#socket) return;
    this.#frames.flush();
    const { todos, model, tasks, subagents = [], pendingContinuation } = response.state;
    this.#updateConversation((conversation) => ({
      ...conversation,
      model: conversation.model === before.model ? (model ?? conversation.model) : conversation.model,
      todos: conversation.todos === before.todos ? todos : conversation.todos,
      tasks: conversation.tasks === before.tasks ? fromState(tasks) : conversation.tasks,
    }));
    await Promise.all([
      subagents.length > 0 && this.#loadSubagents(),
      pendingContinuation && this.#loadWaits(pendingContinuation, before),
    ]);
  }

  // The socket only tells of waits that begin or end while it is open. What changes meanwhile may be among those loaded,
  // so that it is loaded again.
  async #loadWaits(first: Continuation, start: Conversation): Promise<void> {
    const socket = this.#socket;
    let [pending, before]: [Continuation | undefined, Conversation] = [first, start];
    for (let attempt = 0; pending && attempt < maxLoadAttempts; attempt++) {
      const loaded = await loadWaits(this.#client, this.#params, pending).catch(() => undefined);
      if (!loaded || socket !== this.#socket) return;
      this.#frames.flush();
      const after = this.#snapshot.conversation;
      if (after.waits === before.waits && after.turnCount === before.turnCount) {
        return this.#updateConversation((conversation) => ({
          ...conversation,
          waits: mergeWaits(conversation.waits, loaded),
        }));
      }
      before = after;
      const response = await this.#client.call("getState", { params: this.#params }).catch(() => undefined);
      pending = response?.state.pendingContinuation;
    }
  }

  // The state does not say what they are called or what they do.
  async #loadSubagents(): Promise<void> {
    const socket = this.#socket;
    const response = await this.#client.call("listSubagents", { params: this.#params }).catch(() => undefined);
    if (!response || socket !== this.#socket) return;
    this.#frames.flush();
    this.#updateConversation((conversation) => ({
      ...conversation,
      subagents: mergeSubagents(conversation.subagents, response.subagents),
    }));
  }

  #refuse(reason: string): void {
    this.#disconnect();
    this.#update({ connection: { state: "refused", reason } });
  }

  async #loadOlderPage(): Promise<void> {
    const { entries, older } = this.#snapshot.conversation;
    const before = entries.find((entry) => entry.seq !== undefined)?.seq;
    if (before === undefined || !older) return;
    try {
      const { messages, next } = await this.#client.call("listMessages", {
        params: this.#params,
        query: { before, limit: 50 },
      });
      this.#updateConversation((conversation) => prependHistory(conversation, messages, next !== undefined));
      void this.#backfill();
    } catch (error) {
      this.#updateConversation((conversation) => ({
        ...conversation,
        error: { message: error instanceof Error ? error.message : "Could not load older messages." },
      }));
    }
  }

  // Messages do not contain what happened between them before we connected; past events do.
  async #backfill(): Promise<void> {
    const first = this.#snapshot.conversation.entries.find((entry) => entry.seq !== undefined)?.seq;
    const [from, to] = [Math.floor((first ?? 0) / positionsPerEvent), this.#knownFrom ?? 0];
    if (first === undefined || from > to) return;
    this.#knownFrom = from - 1;
    try {
      for (
        let after: number | undefined = Math.max(from - 1, to - maxBackfillEvents);
        after !== undefined && after < to;
      ) {
        const query: { after: number; limit: number } = { after, limit: Math.min(to - after, backfillPageSize) };
        const { events, next } = await this.#client.call("listEvents", { params: this.#params, query });
        this.#updateConversation((conversation) => backfillEvents(conversation, events));
        after = next;
      }
    } catch {
      // The messages are complete without these details, and the next connection tries again.
      this.#knownFrom = to;
    }
  }

  #updateConversation(update: (conversation: Conversation) => Conversation): void {
    this.#update({ conversation: update(this.#snapshot.conversation) });
  }

  #update(changes: Partial<Snapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...changes };
    for (const listener of this.#listeners) listener();
  }
}

function toSocketUrl(url: string, path: string): string {
  const address = new URL(url.replace(/\/+$/, "") + path, globalThis.location?.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return address.href;
}

function isRefusal(error: unknown): error is Error {
  return (
    isThinkeryError(error) &&
    (error.code === "unauthorized" || error.code === "forbidden" || error.code === "not_found")
  );
}

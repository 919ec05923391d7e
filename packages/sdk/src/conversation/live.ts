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
import type { Mode } from "../protocol/choices.ts";
import { isThinkeryError } from "../protocol/errors.ts";
import type { Approval } from "../protocol/frame.ts";
import { routes } from "../protocol/routes.ts";
import { parseAgentTarget } from "../protocol/target.ts";
import type { NewAttachment } from "../protocol/turn.ts";
import { createBatcher } from "./batcher.ts";
import { emptyConversation, type Conversation, type Frame } from "./conversation.ts";
import { prependHistory } from "./history.ts";
import { createMemoryOutbox, type Outbox, type UnsentMessage } from "./outbox.ts";
import { removeMessage, receive, addUnsent } from "./receive.ts";
import { recallEvents } from "./reduce.ts";

export interface LiveOptions {
  /** `alice`, `alice@review`, `alice@review:pr-123`. */
  agent: string;
  /** Its agency, where the agent's own name does not say it. */
  agency?: string;
  /** Where the host is; if nothing is said, where the page came from. */
  url?: string;
  /** A browser's socket cannot send one: a page is let in by its cookie, or its backend adds the token. Else give `connect`. */
  token?: string;
  /** A WebSocket that can send headers, such as that of `ws`. */
  connect?: AgentSocketOptions["connect"];
  /** What else is asked of the host is asked by it; if none is given, one is made. */
  client?: Caller;
  /** Keeps what is not sent yet, over reloads for instance. */
  outbox?: Outbox;
}

export type Connection = { state: "connecting" | "open" | "lost" } | { state: "refused"; reason: string };

export interface SendOptions {
  mode?: Mode;
  attachments?: NewAttachment[];
}

export interface Snapshot {
  conversation: Conversation;
  connection: Connection;
}

/** The host ends a connection over a longer frame, so such a message would never get through. */
const maxMessageChars = 1_000_000;

/** So far back events are asked for that tell more of messages than these do. */
const maxRecalledEvents = 2000;
const recallPageSize = 500;

/** A conversation that is followed for as long as it is open, and what can be done in it. Made without a side effect. */
export class LiveConversation {
  readonly #options: LiveOptions;
  readonly #params: { agency: string; agent: string };
  readonly #outbox: Outbox;
  readonly #client: Caller;
  readonly #listeners = new Set<() => void>();
  readonly #frames = createBatcher<Frame>((gathered) => this.#receive(gathered));
  #snapshot: Snapshot = { conversation: emptyConversation, connection: { state: "connecting" } };
  #isOpen = false;
  #talk: AgentSocket | undefined;
  /** The number of the last event heard of. */
  #after: number | undefined;
  /** All events behind this one were heard or recalled. */
  #knownFrom: number | undefined;
  #loading: Promise<void> | undefined;

  constructor(options: LiveOptions) {
    const { agency, agent } = parseAgentTarget(
      options.agency === undefined ? options.agent : `${options.agent}@${options.agency}`,
    );
    this.#options = options;
    this.#params = { agency, agent };
    this.#outbox = options.outbox ?? createMemoryOutbox();
    this.#client =
      options.client ??
      createCaller({ url: options.url ?? "", ...(options.token === undefined ? {} : { token: options.token }) });
  }

  get = (): Snapshot => this.#snapshot;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Connects, now and whenever the connection is lost, until the answer is called. May be opened again. */
  open = (): (() => void) => {
    this.#isOpen = true;
    // React's StrictMode opens, closes and opens in one go; that makes one connection.
    queueMicrotask(() => this.#isOpen && !this.#talk && this.#connect());
    return () => {
      this.#isOpen = false;
      this.#disconnect();
    };
  };

  /** Tries now instead of waiting for the next try. */
  reconnect = (): void => {
    if (!this.#isOpen) return;
    this.#disconnect();
    this.#connect();
  };

  /** The message's id; none when it cannot be sent at all, and then the conversation says why. */
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
      const message = `This is too long to be sent: it has ${size.toLocaleString("en")} characters, and ${maxMessageChars.toLocaleString("en")} is the most.`;
      this.#updateConversation((now) => ({ ...now, error: { message, advice: "Shorten it, or send it in parts." } }));
      return undefined;
    }
    this.#outbox.add(unsent);
    this.#sendUnsent(unsent);
    return unsent.id;
  };

  /** Takes away what was refused. */
  unsend = (id: string): void => {
    this.#outbox.remove(id);
    this.#updateConversation((now) => removeMessage(now, id));
  };

  /** Ends a turn: the one that runs, if none is named. */
  cancel = (runId?: string): void => {
    const meant = runId ?? this.#snapshot.conversation.run;
    this.#talk?.send({ type: "cancel", ...(meant === undefined ? {} : { runId: meant }) });
  };

  approve = (approvalId: string | undefined, approval: Omit<Approval, "approvalId">): void => {
    this.#talk?.send({ type: "approve", ...(approvalId === undefined ? {} : { approvalId }), ...approval });
  };

  loadOlder = (): Promise<void> => (this.#loading ??= this.#loadOlderPage().finally(() => (this.#loading = undefined)));

  #connect(): void {
    const { token, connect } = this.#options;
    if (token !== undefined && !connect) {
      const reason =
        "A browser’s socket cannot send a token. Let the page’s backend add it, or give a `connect` that can.";
      return this.#update({ connection: { state: "refused", reason } });
    }
    const opened = openAgentSocket({
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
      onConnection: (state, reason) => this.#talk === opened && this.#handleConnection(state, reason),
    });
    this.#talk = opened;
    for (const unsent of this.#outbox.read()) this.#sendUnsent(unsent);
  }

  #disconnect(): void {
    this.#talk?.close();
    this.#talk = undefined;
    // Closed means that nothing changes any more.
    this.#frames.flush();
  }

  #sendUnsent({ id, content, attachments, mode, at }: UnsentMessage): void {
    this.#updateConversation((now) => addUnsent(now, id, content, at));
    this.#talk?.send({ type: "chat", id, content, mode, ...(attachments ? { attachments } : {}) });
  }

  #receive(gathered: readonly Frame[]): void {
    this.#updateConversation((now) => gathered.reduce(receive, now));
    for (const frame of gathered) {
      if (frame.type === "history") void this.#recall();
      if ((frame.type === "task-queued" || frame.type === "error") && frame.id !== undefined)
        this.#outbox.remove(frame.id);
    }
  }

  #handleConnection(state: AgentSocketState, reason = "The host does not let you in here."): void {
    this.#update({ connection: state === "refused" ? { state, reason } : { state } });
    if (state !== "refused") void this.#loadState();
  }

  // The socket tells of changes; what was there before, such as the todos, is asked for when it opens. And a browser does
  // not tell why a socket was refused; the answer to a request does.
  async #loadState(): Promise<void> {
    const asked = this.#talk;
    const before = this.#snapshot.conversation;
    const answer = await this.#client.call("getState", { params: this.#params }).catch((error: unknown) => {
      if (asked === this.#talk && isRefusal(error)) this.#refuse(error.message);
    });
    if (!answer || asked !== this.#talk) return;
    this.#frames.flush();
    const { todos, model } = answer.state;
    this.#updateConversation((now) => ({
      ...now,
      model: now.model === before.model ? (model ?? now.model) : now.model,
      todos: now.todos === before.todos ? todos : now.todos,
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
      this.#updateConversation((now) => prependHistory(now, messages, next !== undefined));
      void this.#recall();
    } catch (error) {
      this.#updateConversation((now) => ({
        ...now,
        error: { message: error instanceof Error ? error.message : "Older messages could not be loaded." },
      }));
    }
  }

  // What happened between messages from before we connected is in no history.
  async #recall(): Promise<void> {
    const first = this.#snapshot.conversation.entries.find((entry) => entry.seq !== undefined)?.seq;
    const [from, to] = [Math.floor((first ?? 0) / positionsPerEvent), this.#knownFrom ?? 0];
    if (first === undefined || from > to) return;
    this.#knownFrom = from - 1;
    try {
      for (
        let after: number | undefined = Math.max(from - 1, to - maxRecalledEvents);
        after !== undefined && after < to;
      ) {
        const query: { after: number; limit: number } = { after, limit: Math.min(to - after, recallPageSize) };
        const { events, next } = await this.#client.call("listEvents", { params: this.#params, query });
        this.#updateConversation((now) => recallEvents(now, events));
        after = next;
      }
    } catch {
      // The messages are whole without them, and the next connection asks again.
      this.#knownFrom = to;
    }
  }

  #updateConversation(part: (now: Conversation) => Conversation): void {
    this.#update({ conversation: part(this.#snapshot.conversation) });
  }

  #update(part: Partial<Snapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...part };
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

import { type ClientFrame, clientFrameSchema, fail, isThinkeryError, type Scope } from "@thinkery/sdk";
import type { Connection } from "agents";
import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import { createInput } from "../turn/admission/input.ts";
import type { TurnQueue } from "../turn/admission/turn-queue.ts";
import type { Recorder } from "../turn/loop/recorder.ts";
import type { Broadcaster } from "./broadcaster.ts";
import { createQueuedFrame } from "./chat-frames.ts";
import { sendInitialFrames } from "./initial-frames.ts";
import { Socket, type SocketState, readSocketState } from "./socket.ts";

const maxIdChars = 200;

interface SocketsOptions {
  store: AgentStore;
  blobs: Blobs;
  broadcaster: Broadcaster;
  recorder: Recorder;
  queue: TurnQueue;
}

/** The sockets of one agent's clients, and what they say. */
export class Sockets {
  readonly #options: SocketsOptions;
  readonly #sockets = new Map<string, Socket>();

  constructor(options: SocketsOptions) {
    this.#options = options;
  }

  /** Is anybody connected who speaks the Agents SDK's protocol? */
  get hasProtocolClients(): boolean {
    for (const { state } of this.#sockets.values()) if (state.protocol) return true;
    return false;
  }

  connect(connection: Connection, request: Request): void {
    const facts = readSocketState(request);
    connection.setState(facts);
    const socket = this.#add(connection, facts);
    const after = new URL(request.url).searchParams.get("after");
    sendInitialFrames(
      socket,
      this.#options.store,
      this.#options.recorder,
      after === null ? undefined : Number(after) || 0,
    );
  }

  /** Those that stayed open while the object slept. One without a state is only just connecting, and is welcomed next. */
  restore(connections: Iterable<Connection>): void {
    for (const connection of connections) if (connection.state) this.#getSocket(connection);
  }

  disconnect(connection: Connection): void {
    const socket = this.#sockets.get(connection.id);
    if (socket) this.#options.broadcaster.unsubscribe(socket);
    this.#sockets.delete(connection.id);
  }

  /** A frame that is wrong is answered with an `error` frame, and the socket lives. */
  async receive(connection: Connection, message: string | ArrayBuffer): Promise<void> {
    const socket = this.#getSocket(connection);
    socket.noteActivity();
    let id: string | undefined;
    try {
      const value = parseMessage(message);
      id = readMessageId(value);
      await this.#handleFrame(socket, parseFrame(value));
    } catch (error) {
      const isKnown = isThinkeryError(error);
      if (!isKnown) console.error("frame failed", error);
      const text = isKnown ? error.message : "Something went wrong here. The host's log says more.";
      socket.send([JSON.stringify({ type: "error", error: text, code: isKnown ? error.code : "internal", id })]);
    }
  }

  async #handleFrame(socket: Socket, frame: ClientFrame): Promise<void> {
    const { store, blobs, queue } = this.#options;
    if (frame.type === "ack") return;
    if (frame.type === "actions") return socket.wantActions(frame.on);
    checkScope(socket, frame.type === "approve" ? "approve" : "chat");
    if (frame.type === "approve") throw fail("conflict", "Nothing waits for an approval.");
    if (frame.type === "cancel") return void queue.cancel(frame.runId, "canceled");
    const { id, content: message, attachments, mode } = frame;
    if (store.messages.get(id) && !store.turns.findAdmission(id))
      throw fail("conflict", "Another message has this id. Send it with a new one.");
    const from = { user: socket.state.user, context: {} };
    const invoke = { message, messageId: id, idempotencyKey: id, mode, ...(attachments ? { attachments } : {}) };
    const { duplicate, runId, messageId, position } = queue.admit(await createInput(invoke, from, blobs));
    if (!duplicate) return;
    const said = store.messages.get(messageId);
    socket.send([JSON.stringify(createQueuedFrame(id, runId, position, said ? [said] : []))]);
  }

  #getSocket(connection: Connection): Socket {
    return this.#sockets.get(connection.id) ?? this.#add(connection, connection.state as SocketState);
  }

  #add(connection: Connection, facts: SocketState): Socket {
    const socket = new Socket(connection, facts);
    this.#sockets.set(connection.id, socket);
    this.#options.broadcaster.subscribe(socket);
    return socket;
  }
}

function checkScope(socket: Socket, scope: Scope): void {
  if (!socket.hasScope(scope)) throw fail("forbidden", `This needs a token with the scope “${scope}”.`);
}

function parseMessage(message: string | ArrayBuffer): unknown {
  if (typeof message !== "string") throw fail("bad_request", "Send text frames with JSON.");
  try {
    return JSON.parse(message);
  } catch {
    throw fail("bad_request", "That frame is not JSON.");
  }
}

/** What the sender calls the message, also of one that is not valid: they wait for an answer to it. */
function readMessageId(value: unknown): string | undefined {
  const { type, id } = (value ?? {}) as { type?: unknown; id?: unknown };
  return type === "chat" && typeof id === "string" && id !== "" && id.length <= maxIdChars ? id : undefined;
}

function parseFrame(value: unknown): ClientFrame {
  const checked = clientFrameSchema.safeParse(value);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw fail(
    "bad_request",
    `That frame is not valid at ${issue?.path.join(".") || "type"}: ${issue?.message ?? "unknown problem"}`,
  );
}

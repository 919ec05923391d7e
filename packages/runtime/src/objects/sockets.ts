import {
  type ClientFrame,
  clientFrameSchema,
  createValidationError,
  fail,
  isThinkeryError,
  type Scope,
} from "@thinkery/sdk";
import type { Connection } from "agents";
import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import { createInput } from "../turn/admission/input.ts";
import type { TurnQueue } from "../turn/admission/turn-queue.ts";
import type { TurnWaits } from "../turn/admission/turn-waits.ts";
import type { Recorder } from "../turn/loop/recorder.ts";
import type { Broadcaster } from "./broadcaster.ts";
import { createQueuedFrame } from "./chat-frames.ts";
import { sendInitialFrames } from "./initial-frames.ts";
import { Socket, type SocketState, readSocketState } from "./socket.ts";
import type { TurnLease } from "./turn-lease.ts";
import type { WaitsFeature } from "./waits-feature.ts";

const maxIdChars = 200;

interface SocketsOptions {
  store: AgentStore;
  blobs: Blobs;
  broadcaster: Broadcaster;
  recorder: Recorder;
  queue: TurnQueue;
  turnLease: TurnLease;
  turnWaits: TurnWaits;
  waits: WaitsFeature;
}

/** The sockets of one agent's clients; handles the frames they send. */
export class Sockets {
  readonly #options: SocketsOptions;
  readonly #sockets = new Map<string, Socket>();

  constructor(options: SocketsOptions) {
    this.#options = options;
  }

  /** Whether a client that speaks the Agents SDK's protocol is connected. */
  get hasProtocolClients(): boolean {
    for (const { state } of this.#sockets.values()) if (state.protocol) return true;
    return false;
  }

  connect(connection: Connection, request: Request): void {
    const state = readSocketState(request);
    connection.setState(state);
    const socket = this.#add(connection, state);
    const after = new URL(request.url).searchParams.get("after");
    sendInitialFrames(
      socket,
      this.#options.store,
      this.#options.recorder,
      after === null ? undefined : Number(after) || 0,
    );
  }

  /** Restores sockets that stayed open while the object hibernated. One without state is still connecting. */
  restore(connections: Iterable<Connection>): void {
    for (const connection of connections) if (connection.state) this.#getSocket(connection);
  }

  disconnect(connection: Connection): void {
    const socket = this.#sockets.get(connection.id);
    if (socket) this.#options.broadcaster.unsubscribe(socket);
    this.#sockets.delete(connection.id);
  }

  /** An invalid frame gets an `error` frame in response; the socket stays open. */
  async receive(connection: Connection, message: string | ArrayBuffer): Promise<void> {
    const socket = this.#getSocket(connection);
    socket.noteActivity();
    let id: string | undefined;
    try {
      if (!socket.takeFrame()) throw fail("rate_limited", "You send too many frames. Send them more slowly.");
      const value = parseMessage(message);
      id = readMessageId(value);
      await this.#handleFrame(socket, parseFrame(value));
    } catch (error) {
      const isKnown = isThinkeryError(error);
      if (!isKnown) console.error("frame failed", error);
      const text = isKnown ? error.message : "Internal error. `thinkery logs` shows the details.";
      socket.send([JSON.stringify({ type: "error", error: text, code: isKnown ? error.code : "internal", id })]);
    }
  }

  async #handleFrame(socket: Socket, frame: ClientFrame): Promise<void> {
    const { store, blobs, queue, turnLease, turnWaits, waits } = this.#options;
    if (frame.type === "ack") return;
    if (frame.type === "actions") return socket.setWantsActions(frame.on);
    checkScope(socket, frame.type === "approve" ? "approve" : "chat");
    if (frame.type === "approve") {
      const { type: _, ...answer } = frame;
      await turnLease.acquireFor(() => waits.answer(answer, socket.state.user));
      return;
    }
    if (frame.type === "answer") {
      const { type: _, ...answer } = frame;
      await turnLease.acquireFor(async () => turnWaits.answerQuestion(answer, socket.state.user));
      return;
    }
    if (frame.type === "cancel") return void queue.cancel(frame.runId, "canceled");
    const { id, content: message, attachments, mode } = frame;
    if (store.messages.get(id) && !store.turns.findAdmission(id))
      throw fail("conflict", "Another message already has this id. Send it with a new one.");
    const from = { user: socket.state.user, context: {} };
    const invoke = { message, messageId: id, idempotencyKey: id, mode, ...(attachments ? { attachments } : {}) };
    const { duplicate, runId, messageId, position } = await turnLease.acquireFor(async () =>
      queue.admit(await createInput(invoke, from, blobs)),
    );
    if (!duplicate) return;
    const stored = store.messages.get(messageId);
    socket.send([JSON.stringify(createQueuedFrame(id, runId, position, stored ? [stored] : []))]);
  }

  #getSocket(connection: Connection): Socket {
    return this.#sockets.get(connection.id) ?? this.#add(connection, connection.state as SocketState);
  }

  #add(connection: Connection, state: SocketState): Socket {
    const socket = new Socket(connection, state);
    this.#sockets.set(connection.id, socket);
    this.#options.broadcaster.subscribe(socket);
    return socket;
  }
}

function checkScope(socket: Socket, scope: Scope): void {
  if (!socket.hasScope(scope)) throw fail("forbidden", `This requires a token with the scope “${scope}”.`);
}

function parseMessage(message: string | ArrayBuffer): unknown {
  if (typeof message !== "string") throw fail("bad_request", "Expected a text frame with JSON.");
  try {
    return JSON.parse(message);
  } catch {
    throw fail("bad_request", "The frame is not valid JSON.");
  }
}

/** Reads the sender's message id even from an invalid frame, because the sender waits for a response with it. */
function readMessageId(value: unknown): string | undefined {
  const { type, id } = (value ?? {}) as { type?: unknown; id?: unknown };
  return type === "chat" && typeof id === "string" && id !== "" && id.length <= maxIdChars ? id : undefined;
}

function parseFrame(value: unknown): ClientFrame {
  const parsed = clientFrameSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw createValidationError("frame", parsed.error, clientFrameSchema);
}

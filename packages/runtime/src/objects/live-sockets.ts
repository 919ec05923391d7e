import { mainBranch } from "@thinkery/sdk";
import type { Connection } from "agents";
import { presenceQueryFrame } from "../workspace/live/frames.ts";
import { LiveStore } from "../workspace/live/live-store.ts";
import { type Peer, Room } from "../workspace/live/room.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { RateLimiter } from "./rate-limiter.ts";

const maxSockets = 200;
/** Whoever has been sent this much without a word is asked for one, and cut off when there is none until so much more. */
const askAfterBytes = 1024 * 1024;
const maxUnreadBytes = 8 * 1024 * 1024;

const megabyte = 1024 * 1024;

/** What is known of an editor's socket, also after the object slept. */
interface LiveSocketState {
  live: string;
  user: string;
  mayWrite: boolean;
  clients: readonly number[];
  /** What it still says is not heard any more. */
  closed?: boolean;
}

/** Is this request for the live document? Only our own routes can say so. */
export function isLive(request: Request): boolean {
  return request.headers.get("x-thinkery-yjs") === "1";
}

/** The sockets of everybody who edits an agent's files live, each in the room of its branch. */
export class LiveSockets {
  readonly #workspace: Workspace;
  readonly #storage: DurableObjectStorage;
  readonly #rooms = new Map<string, Room>();
  readonly #sockets = new Map<string, LiveSocket>();

  constructor(workspace: Workspace, storage: DurableObjectStorage) {
    this.#workspace = workspace;
    this.#storage = storage;
    workspace.subscribe((commit) => {
      // Version 0 says that a branch was removed.
      if (commit.version !== 0) return this.#rooms.get(commit.branch)?.applyCommit(commit);
      this.#getRoom(commit.branch).dissolve(`The branch “${commit.branch}” was removed.`);
      this.#rooms.delete(commit.branch);
    });
  }

  connect(connection: Connection, request: Request): void {
    const scopes = (request.headers.get("x-thinkery-scopes") ?? "").split(",");
    const facts: LiveSocketState = {
      live: new URL(request.url).searchParams.get("branch") ?? mainBranch,
      user: request.headers.get("x-thinkery-user") ?? "",
      mayWrite: scopes.includes("chat") || scopes.includes("admin"),
      clients: [],
    };
    connection.setState(facts);
    const socket = this.#add(connection, facts);
    if (this.#sockets.size > maxSockets) socket.close(1013, "Too many are connected to these files. Try again later.");
    else this.#getRoom(facts.live).join(socket);
  }

  /** Those that stayed open while the object slept. */
  restore(connections: Iterable<Connection>): void {
    for (const connection of connections) if (!isClosed(connection)) this.#getSocket(connection);
  }

  has(connection: Connection): boolean {
    return typeof (connection.state as Partial<LiveSocketState> | null)?.live === "string";
  }

  receive(connection: Connection, message: string | ArrayBuffer): void {
    if (isClosed(connection)) return;
    const socket = this.#getSocket(connection);
    socket.noteActivity();
    this.#getRoom(socket.branch).handleMessage(socket, message);
  }

  disconnect(connection: Connection): void {
    const socket = this.#sockets.get(connection.id);
    if (!socket) return;
    this.#sockets.delete(connection.id);
    const room = this.#getRoom(socket.branch);
    room.leave(socket);
    if (room.isEmpty) this.#rooms.delete(socket.branch);
  }

  #getSocket(connection: Connection): LiveSocket {
    const known = this.#sockets.get(connection.id);
    if (known) return known;
    const socket = this.#add(connection, connection.state as LiveSocketState);
    this.#getRoom(socket.branch).restore(socket);
    return socket;
  }

  #add(connection: Connection, facts: LiveSocketState): LiveSocket {
    // Once whoever closes it is done with what they were about.
    const socket = new LiveSocket(connection, facts, () => queueMicrotask(() => this.disconnect(connection)));
    this.#sockets.set(connection.id, socket);
    return socket;
  }

  #getRoom(branch: string): Room {
    const known = this.#rooms.get(branch);
    if (known) return known;
    const room = new Room({ branch, files: this.#workspace, store: new LiveStore(this.#storage, branch) });
    this.#rooms.set(branch, room);
    return room;
  }
}

const isClosed = (connection: Connection) => (connection.state as LiveSocketState).closed === true;

class LiveSocket implements Peer {
  readonly #connection: Connection;
  readonly #onClose: () => void;
  readonly #limiters = {
    ask: new RateLimiter(64 * megabyte, megabyte),
    show: new RateLimiter(megabyte / 4, megabyte / 16),
  };
  #state: LiveSocketState;
  #unreadBytes = 0;
  #hasAsked = false;
  #isClosed = false;
  heardAt = Date.now();

  constructor(connection: Connection, facts: LiveSocketState, gone: () => void) {
    this.#connection = connection;
    this.#onClose = gone;
    this.#state = facts;
  }

  get branch(): string {
    return this.#state.live;
  }

  get user(): string {
    return this.#state.user;
  }

  get mayWrite(): boolean {
    return this.#state.mayWrite;
  }

  get clients(): readonly number[] {
    return this.#state.clients;
  }

  speakFor(clients: readonly number[]): void {
    this.#state = { ...this.#state, clients };
    this.#connection.setState(this.#state);
  }

  hasAllowance(what: "ask" | "show", bytes: number): boolean {
    return this.#limiters[what].take(bytes);
  }

  /** Any word shows that they read. */
  noteActivity(): void {
    this.heardAt = Date.now();
    this.#unreadBytes = 0;
    this.#hasAsked = false;
  }

  send(frame: Uint8Array, asked = false): void {
    if (this.#isClosed) return;
    if (asked) return this.#send(frame);
    // One frame that is larger than all that may wait has to get through nevertheless.
    if (this.#unreadBytes > 0 && this.#unreadBytes + frame.length > maxUnreadBytes)
      return this.close(1013, "You are not reading. Connect again to go on.");
    this.#unreadBytes += frame.length;
    this.#send(frame);
    if (this.#hasAsked || this.#unreadBytes < askAfterBytes) return;
    this.#hasAsked = true;
    this.#send(presenceQueryFrame);
  }

  close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.setState({ ...this.#state, closed: true });
    // Not before its handshake is over: workerd would then leave the client waiting for the end of the connection.
    setTimeout(() => this.#connection.close(code, reason), 0);
    this.#onClose();
  }

  #send(frame: Uint8Array): void {
    // A socket that is just closing throws; its close event follows.
    try {
      this.#connection.send(frame);
    } catch {
      this.#isClosed = true;
    }
  }
}

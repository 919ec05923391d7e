import { hasScope, mainBranch } from "@thinkery/sdk";
import type { Connection } from "agents";
import { RateLimiter } from "../host/rate-limiter.ts";
import { presenceQueryFrame } from "../workspace/live/frames.ts";
import { LiveStore } from "../workspace/live/live-store.ts";
import { type Peer, Room } from "../workspace/live/room.ts";
import type { Workspace } from "../workspace/workspace.ts";

const maxSockets = 200;
/**
 * A client that has been sent this much without sending anything is queried; at `maxUnreadBytes` it is disconnected.
 */
const queryAfterBytes = 1024 * 1024;
const maxUnreadBytes = 8 * 1024 * 1024;

const megabyte = 1024 * 1024;

/** The state of an editor's socket, which survives hibernation. */
interface LiveSocketState {
  live: string;
  user: string;
  mayWrite: boolean;
  clients: readonly number[];
  /** Further messages are ignored. */
  closed?: boolean;
}

/** Whether a request is for the live document. Only our own routes can set this header. */
export function isLive(request: Request): boolean {
  return request.headers.get("x-thinkery-yjs") === "1";
}

/** Whether a connection was opened with such a request. */
export function hasLiveState(connection: Connection): boolean {
  return typeof (connection.state as Partial<LiveSocketState> | null)?.live === "string";
}

/** The sockets that edit an agent's files live, each in the room of its branch. */
export class LiveSockets {
  readonly #workspace: Workspace;
  readonly #storage: DurableObjectStorage;
  readonly #rooms = new Map<string, Room>();
  readonly #sockets = new Map<string, LiveSocket>();

  constructor(workspace: Workspace, storage: DurableObjectStorage) {
    this.#workspace = workspace;
    this.#storage = storage;
    workspace.subscribe((commit) => {
      // Version 0 means that the branch was removed.
      if (commit.version !== 0) return this.#rooms.get(commit.branch)?.applyCommit(commit);
      this.#getRoom(commit.branch).dissolve(`The branch “${commit.branch}” was removed.`);
      this.#rooms.delete(commit.branch);
    });
  }

  connect(connection: Connection, request: Request): void {
    const scopes = (request.headers.get("x-thinkery-scopes") ?? "").split(",");
    const state: LiveSocketState = {
      live: new URL(request.url).searchParams.get("branch") ?? mainBranch,
      user: request.headers.get("x-thinkery-user") ?? "",
      mayWrite: hasScope(scopes, "chat"),
      clients: [],
    };
    connection.setState(state);
    const socket = this.#add(connection, state);
    if (this.#sockets.size > maxSockets)
      socket.close(1013, "Too many clients are editing these files. Try again later.");
    else this.#getRoom(state.live).join(socket);
  }

  /** Restores sockets that stayed open while the object hibernated. */
  restore(connections: Iterable<Connection>): void {
    for (const connection of connections) if (!isClosed(connection)) this.#getSocket(connection);
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
    const existing = this.#sockets.get(connection.id);
    if (existing) return existing;
    const socket = this.#add(connection, connection.state as LiveSocketState);
    this.#getRoom(socket.branch).restore(socket);
    return socket;
  }

  #add(connection: Connection, state: LiveSocketState): LiveSocket {
    // Deferred, so that the code that closes it can finish first.
    const socket = new LiveSocket(connection, state, () => queueMicrotask(() => this.disconnect(connection)));
    this.#sockets.set(connection.id, socket);
    return socket;
  }

  #getRoom(branch: string): Room {
    const existing = this.#rooms.get(branch);
    if (existing) return existing;
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
    request: new RateLimiter(64 * megabyte, megabyte),
    presence: new RateLimiter(megabyte / 4, megabyte / 16),
  };
  #state: LiveSocketState;
  #unreadBytes = 0;
  #isQueried = false;
  #isClosed = false;
  lastSeenAt = Date.now();

  constructor(connection: Connection, state: LiveSocketState, onClose: () => void) {
    this.#connection = connection;
    this.#onClose = onClose;
    this.#state = state;
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

  setClients(clients: readonly number[]): void {
    this.#state = { ...this.#state, clients };
    this.#connection.setState(this.#state);
  }

  takeAllowance(kind: "request" | "presence", bytes: number): boolean {
    return this.#limiters[kind].take(bytes);
  }

  /** Any message shows that the client is reading. */
  noteActivity(): void {
    this.lastSeenAt = Date.now();
    this.#unreadBytes = 0;
    this.#isQueried = false;
  }

  send(frame: Uint8Array, isRequested = false): void {
    if (this.#isClosed) return;
    if (isRequested) return this.#send(frame);
    // A single frame larger than the limit must still get through.
    if (this.#unreadBytes > 0 && this.#unreadBytes + frame.length > maxUnreadBytes)
      return this.close(1013, "The client is not reading. Reconnect to continue.");
    this.#unreadBytes += frame.length;
    this.#send(frame);
    if (this.#isQueried || this.#unreadBytes < queryAfterBytes) return;
    this.#isQueried = true;
    this.#send(presenceQueryFrame);
  }

  close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.setState({ ...this.#state, closed: true });
    // Not before the handshake is over: workerd would leave the client waiting for the end of the connection.
    setTimeout(() => this.#connection.close(code, reason), 0);
    this.#onClose();
  }

  #send(frame: Uint8Array): void {
    // A closing socket throws; its close event follows.
    try {
      this.#connection.send(frame);
    } catch {
      this.#isClosed = true;
    }
  }
}

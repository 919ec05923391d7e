import { mainBranch } from "@thinkery/sdk";
import type { Connection } from "agents";
import { presenceWantedFrame } from "../workspace/live/frames.ts";
import { LiveStore } from "../workspace/live/live-store.ts";
import { type Peer, Room } from "../workspace/live/room.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { Ration } from "./ration.ts";

const maxSockets = 200;
/** Whoever has been sent this much without a word is asked for one, and cut off when there is none until so much more. */
const unreadBeforeAsking = 1024 * 1024;
const maxUnreadBytes = 8 * 1024 * 1024;

const megabyte = 1024 * 1024;

/** What is known of an editor's socket, also after the object slept. */
interface LiveFacts {
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
  readonly #open = new Map<string, LiveSocket>();

  constructor(workspace: Workspace, storage: DurableObjectStorage) {
    this.#workspace = workspace;
    this.#storage = storage;
    workspace.follow((commit) => {
      // Version 0 says that a branch was removed.
      if (commit.version !== 0) return this.#rooms.get(commit.branch)?.follow(commit);
      this.#room(commit.branch).dissolve(`The branch “${commit.branch}” was removed.`);
      this.#rooms.delete(commit.branch);
    });
  }

  welcome(connection: Connection, request: Request): void {
    const scopes = (request.headers.get("x-thinkery-scopes") ?? "").split(",");
    const facts: LiveFacts = {
      live: new URL(request.url).searchParams.get("branch") ?? mainBranch,
      user: request.headers.get("x-thinkery-user") ?? "",
      mayWrite: scopes.includes("chat") || scopes.includes("admin"),
      clients: [],
    };
    connection.setState(facts);
    const socket = this.#add(connection, facts);
    if (this.#open.size > maxSockets) socket.close(1013, "Too many are connected to these files. Try again later.");
    else this.#room(facts.live).join(socket);
  }

  /** Those that stayed open while the object slept. */
  restore(connections: Iterable<Connection>): void {
    for (const connection of connections) if (!isClosed(connection)) this.#socket(connection);
  }

  has(connection: Connection): boolean {
    return typeof (connection.state as Partial<LiveFacts> | null)?.live === "string";
  }

  hear(connection: Connection, message: string | ArrayBuffer): void {
    if (isClosed(connection)) return;
    const socket = this.#socket(connection);
    socket.heard();
    this.#room(socket.branch).hear(socket, message);
  }

  leave(connection: Connection): void {
    const socket = this.#open.get(connection.id);
    if (!socket) return;
    this.#open.delete(connection.id);
    const room = this.#room(socket.branch);
    room.leave(socket);
    if (room.isEmpty) this.#rooms.delete(socket.branch);
  }

  #socket(connection: Connection): LiveSocket {
    const known = this.#open.get(connection.id);
    if (known) return known;
    const socket = this.#add(connection, connection.state as LiveFacts);
    this.#room(socket.branch).restore(socket);
    return socket;
  }

  #add(connection: Connection, facts: LiveFacts): LiveSocket {
    // Once whoever closes it is done with what they were about.
    const socket = new LiveSocket(connection, facts, () => queueMicrotask(() => this.leave(connection)));
    this.#open.set(connection.id, socket);
    return socket;
  }

  #room(branch: string): Room {
    const known = this.#rooms.get(branch);
    if (known) return known;
    const room = new Room({ branch, files: this.#workspace, store: new LiveStore(this.#storage, branch) });
    this.#rooms.set(branch, room);
    return room;
  }
}

const isClosed = (connection: Connection) => (connection.state as LiveFacts).closed === true;

class LiveSocket implements Peer {
  readonly #connection: Connection;
  readonly #gone: () => void;
  readonly #rations = { ask: new Ration(64 * megabyte, megabyte), show: new Ration(megabyte / 4, megabyte / 16) };
  #facts: LiveFacts;
  #unread = 0;
  #asked = false;
  #closed = false;
  heardAt = Date.now();

  constructor(connection: Connection, facts: LiveFacts, gone: () => void) {
    this.#connection = connection;
    this.#gone = gone;
    this.#facts = facts;
  }

  get branch(): string {
    return this.#facts.live;
  }

  get user(): string {
    return this.#facts.user;
  }

  get mayWrite(): boolean {
    return this.#facts.mayWrite;
  }

  get clients(): readonly number[] {
    return this.#facts.clients;
  }

  speakFor(clients: readonly number[]): void {
    this.#facts = { ...this.#facts, clients };
    this.#connection.setState(this.#facts);
  }

  may(what: "ask" | "show", bytes: number): boolean {
    return this.#rations[what].take(bytes);
  }

  /** Any word shows that they read. */
  heard(): void {
    this.heardAt = Date.now();
    this.#unread = 0;
    this.#asked = false;
  }

  send(frame: Uint8Array, asked = false): void {
    if (this.#closed) return;
    if (asked) return this.#send(frame);
    // One frame that is larger than all that may wait has to get through nevertheless.
    if (this.#unread > 0 && this.#unread + frame.length > maxUnreadBytes) return this.close(1013, "You are not reading. Connect again to go on.");
    this.#unread += frame.length;
    this.#send(frame);
    if (this.#asked || this.#unread < unreadBeforeAsking) return;
    this.#asked = true;
    this.#send(presenceWantedFrame);
  }

  close(code: number, reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#connection.setState({ ...this.#facts, closed: true });
    // Not before its handshake is over: workerd would then leave the client waiting for the end of the connection.
    setTimeout(() => this.#connection.close(code, reason), 0);
    this.#gone();
  }

  #send(frame: Uint8Array): void {
    // A socket that is just closing throws; its close event follows.
    try {
      this.#connection.send(frame);
    } catch {
      this.#closed = true;
    }
  }
}

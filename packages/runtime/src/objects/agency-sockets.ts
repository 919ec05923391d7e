import type { TeamFrame } from "@thinkery/sdk";
import type { Connection } from "agents";
import type { AgencyDocuments } from "./agency-documents.ts";
import { hasLiveState, isLive } from "./live-sockets.ts";
import { readSocketState, Socket, type SocketState } from "./socket.ts";

/** The state of a socket on an agency, which survives hibernation. */
type TeamSocketState = SocketState & { team: true };

interface AgencySocketsOptions {
  /** Those who edit documents. */
  documents(): Pick<AgencyDocuments, "connect" | "receive" | "disconnect">;
  /** Returns the first frame of a client. Throws if the agency does not exist. */
  createSync(): Promise<TeamFrame>;
  /** Called when somebody begins to watch. */
  onWatched(): void;
}

/** The clients of an agency: those who watch it, and those who edit its documents live. */
export class AgencySockets {
  readonly #options: AgencySocketsOptions;
  readonly #sockets = new Map<string, Socket>();

  constructor(options: AgencySocketsOptions) {
    this.#options = options;
  }

  /** Whether a client speaks the Agents SDK's protocol. */
  static usesProtocol(request: Request): boolean {
    return request.headers.get("x-thinkery-socket") !== "1" && !isLive(request);
  }

  get isWatched(): boolean {
    return this.#sockets.size > 0;
  }

  async connect(connection: Connection, request: Request): Promise<void> {
    const { documents, createSync, onWatched } = this.#options;
    if (isLive(request)) return documents().connect(connection, request);
    if (AgencySockets.usesProtocol(request)) return;
    const sync = await createSync();
    const state: TeamSocketState = { ...readSocketState(request), team: true };
    connection.setState(state);
    const socket = new Socket(connection, state);
    if (!this.isWatched) onWatched();
    this.#sockets.set(connection.id, socket);
    socket.send([JSON.stringify(sync)]);
  }

  /** Restores the sockets that stayed open while the object hibernated. */
  restore(connections: Iterable<Connection>): void {
    for (const connection of connections)
      if (hasTeamState(connection))
        this.#sockets.set(connection.id, new Socket(connection, connection.state as TeamSocketState));
  }

  /** Any frame of a client that watches shows that it reads. */
  receive(connection: Connection, message: string | ArrayBuffer): void {
    if (hasLiveState(connection)) this.#options.documents().receive(connection, message);
    else this.#sockets.get(connection.id)?.noteActivity();
  }

  disconnect(connection: Connection): void {
    if (hasLiveState(connection)) this.#options.documents().disconnect(connection);
    else this.#sockets.delete(connection.id);
  }

  publish(frame: TeamFrame): void {
    const text = JSON.stringify(frame);
    for (const socket of this.#sockets.values()) socket.send([text]);
  }
}

const hasTeamState = (connection: Connection) => (connection.state as Partial<TeamSocketState> | null)?.team === true;

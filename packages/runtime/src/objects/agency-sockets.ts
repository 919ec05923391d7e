import type { TeamFrame } from "@thinkery/sdk";
import type { Connection } from "agents";
import { readSocketState, Socket, type SocketState } from "./socket.ts";

/** The state of a socket on an agency, which survives hibernation. */
type TeamSocketState = SocketState & { team: true };

/** Whether a connection watches an agency, in place of speaking the Agents SDK's protocol. */
export function hasTeamState(connection: Connection): boolean {
  return (connection.state as Partial<TeamSocketState> | null)?.team === true;
}

/** The clients that watch an agency. */
export class AgencySockets {
  readonly #sockets = new Map<string, Socket>();

  get isWatched(): boolean {
    return this.#sockets.size > 0;
  }

  connect(connection: Connection, request: Request, sync: TeamFrame): void {
    const state: TeamSocketState = { ...readSocketState(request), team: true };
    connection.setState(state);
    const socket = new Socket(connection, state);
    this.#sockets.set(connection.id, socket);
    socket.send([JSON.stringify(sync)]);
  }

  /** Restores the sockets that stayed open while the object hibernated. */
  restore(connections: Iterable<Connection>): void {
    for (const connection of connections)
      if (hasTeamState(connection))
        this.#sockets.set(connection.id, new Socket(connection, connection.state as TeamSocketState));
  }

  /** Any frame of a client shows that it reads. */
  receive(connection: Connection): void {
    this.#sockets.get(connection.id)?.noteActivity();
  }

  disconnect(connection: Connection): void {
    this.#sockets.delete(connection.id);
  }

  publish(frame: TeamFrame): void {
    const text = JSON.stringify(frame);
    for (const socket of this.#sockets.values()) socket.send([text]);
  }
}

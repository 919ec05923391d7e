import type { Presence } from "./frames.ts";

/** Limits per connection: number of clients, and size of each client's state. */
const maxClients = 4;
const maxStateChars = 16 * 1024;
/** A silent owner may have lost its connection unnoticed: clients renew their presence every 15 seconds. */
const staleAfterMs = 30_000;

const maxRemembered = 1000;

/** A connection that presents clients to the others. */
export interface PresenceOwner {
  /** The clients it presents. Stored with the connection, so that they survive hibernation. */
  readonly clients: readonly number[];
  setClients(clients: readonly number[]): void;
  readonly lastSeenAt: number;
}

interface OwnedPresence extends Presence {
  owner: PresenceOwner;
}

/** The presence (cursor, user name) of all connected clients. Not stored. */
export class Presences<T extends PresenceOwner> {
  readonly #presences = new Map<number, OwnedPresence>();
  readonly #owners = new Map<number, T>();
  /** Last clocks of departed clients. Clients echo the presence of others, even of those that have left. */
  readonly #departedClocks = new Map<number, number>();

  /** Restores an owner after hibernation. Its presence has to be queried. */
  restore(owner: T): void {
    for (const client of owner.clients) this.#owners.set(client, owner);
  }

  getOwner(client: number): T | undefined {
    return this.#owners.get(client);
  }

  listVisible(): Presence[] {
    return [...this.#presences.values()].filter(({ state }) => state !== "null");
  }

  /** Returns the owners of clients whose presence is not known yet. */
  listSilent(): Set<T> {
    return new Set([...this.#owners].filter(([client]) => !this.#presences.has(client)).map(([, owner]) => owner));
  }

  /** Applies presences and returns those to broadcast. Clients of another owner are ignored. */
  receive(owner: T, presences: readonly Presence[]): Presence[] {
    return presences.filter((presence) => {
      const { client, clock, state } = presence;
      const previous = this.#presences.get(client);
      if (state.length > maxStateChars || (!previous && state === "null") || !this.#claim(owner, presence))
        return false;
      const isOutdated = previous && (clock < previous.clock || (clock === previous.clock && state !== "null"));
      if (isOutdated && previous.owner === owner) return false;
      this.#presences.set(client, { ...presence, owner });
      return true;
    });
  }

  /** Removes an owner and returns the presences to broadcast. */
  leave(owner: T): Presence[] {
    const departed: Presence[] = [];
    for (const client of owner.clients) {
      if (this.#owners.get(client) !== owner) continue;
      this.#owners.delete(client);
      const presence = this.#presences.get(client);
      this.#presences.delete(client);
      this.#remember(client, presence?.clock);
      if (presence && presence.state !== "null") departed.push({ client, clock: presence.clock, state: "null" });
    }
    return departed;
  }

  #claim(claimant: T, { client, clock }: Presence): boolean {
    const owner = this.#owners.get(client);
    if (owner === claimant) return true;
    if (clock <= (this.#departedClocks.get(client) ?? -1)) return false;
    if (owner && Date.now() - owner.lastSeenAt < staleAfterMs) return false;
    if (claimant.clients.length >= maxClients) return false;
    if (owner) owner.setClients(owner.clients.filter((other) => other !== client));
    this.#owners.set(client, claimant);
    claimant.setClients([...claimant.clients, client]);
    return true;
  }

  #remember(client: number, clock = 0): void {
    this.#departedClocks.delete(client);
    this.#departedClocks.set(client, clock);
    for (const [oldest] of this.#departedClocks) {
      if (this.#departedClocks.size <= maxRemembered) break;
      this.#departedClocks.delete(oldest);
    }
  }
}

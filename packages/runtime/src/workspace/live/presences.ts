import type { Presence } from "./frames.ts";

/** One connection speaks for so many clients at most, and shows so much of each. */
const maxClients = 4;
const maxStateChars = 16 * 1024;
/** Whoever was not heard for so long may have lost their connection without our noticing: they renew what they show every 15 seconds. */
const staleAfterMs = 30_000;

const maxRemembered = 1000;

/** Whoever shows something of themselves. */
export interface PresenceOwner {
  /** For whom they speak. Kept with the connection, so that it holds after the object slept. */
  readonly clients: readonly number[];
  speakFor(clients: readonly number[]): void;
  readonly heardAt: number;
}

interface OwnedPresence extends Presence {
  by: PresenceOwner;
}

/** What everybody who is connected shows of themselves: where their cursor is, what they are called. Kept nowhere. */
export class Presences<T extends PresenceOwner> {
  readonly #presences = new Map<number, OwnedPresence>();
  readonly #speakers = new Map<number, T>();
  /** How far those had come who left. Clients send back what they hear of others, also when these are gone by then. */
  readonly #departedClocks = new Map<number, number>();

  /** One who was there before the object slept. What they showed has to be asked for. */
  restore(one: T): void {
    for (const client of one.clients) this.#speakers.set(client, one);
  }

  /** Who speaks for a client. */
  getSpeaker(client: number): T | undefined {
    return this.#speakers.get(client);
  }

  listVisible(): Presence[] {
    return [...this.#presences.values()].filter(({ state }) => state !== "null");
  }

  /** Who is there and has not said yet what they show. */
  listSilent(): Set<T> {
    return new Set([...this.#speakers].filter(([client]) => !this.#presences.has(client)).map(([, one]) => one));
  }

  /** What of it is news, for the others. Nobody speaks for somebody else. */
  receive(one: T, presences: readonly Presence[]): Presence[] {
    return presences.filter((presence) => {
      const { client, clock, state } = presence;
      const before = this.#presences.get(client);
      if (state.length > maxStateChars || (!before && state === "null") || !this.#claim(one, presence)) return false;
      if (before && before.by === one && (clock < before.clock || (clock === before.clock && state !== "null")))
        return false;
      this.#presences.set(client, { ...presence, by: one });
      return true;
    });
  }

  /** What the others are to be told when somebody leaves. */
  leave(one: T): Presence[] {
    const told: Presence[] = [];
    for (const client of one.clients) {
      if (this.#speakers.get(client) !== one) continue;
      this.#speakers.delete(client);
      const shown = this.#presences.get(client);
      this.#presences.delete(client);
      this.#remember(client, shown?.clock);
      if (shown && shown.state !== "null") told.push({ client, clock: shown.clock, state: "null" });
    }
    return told;
  }

  #claim(one: T, { client, clock }: Presence): boolean {
    const speaker = this.#speakers.get(client);
    if (speaker === one) return true;
    if (clock <= (this.#departedClocks.get(client) ?? -1)) return false;
    if (speaker && Date.now() - speaker.heardAt < staleAfterMs) return false;
    if (one.clients.length >= maxClients) return false;
    if (speaker) speaker.speakFor(speaker.clients.filter((other) => other !== client));
    this.#speakers.set(client, one);
    one.speakFor([...one.clients, client]);
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

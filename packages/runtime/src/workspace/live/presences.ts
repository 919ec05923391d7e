import type { Presence } from "./frames.ts";

/** One connection speaks for so many clients at most, and shows so much of each. */
const maxClients = 4;
const maxStateChars = 16 * 1024;
/** Whoever was not heard for so long may have lost their connection without our noticing: they renew what they show every 15 seconds. */
const silenceMs = 30_000;

const maxRemembered = 1000;

/** Whoever shows something of themselves. */
export interface Shower {
  /** For whom they speak. Kept with the connection, so that it holds after the object slept. */
  readonly clients: readonly number[];
  speakFor(clients: readonly number[]): void;
  readonly heardAt: number;
}

interface Shown extends Presence {
  by: Shower;
}

/** What everybody who is connected shows of themselves: where their cursor is, what they are called. Kept nowhere. */
export class Presences<T extends Shower> {
  readonly #shown = new Map<number, Shown>();
  readonly #speakers = new Map<number, T>();
  /** How far those had come who left. Clients send back what they hear of others, also when these are gone by then. */
  readonly #left = new Map<number, number>();

  /** One who was there before the object slept. What they showed has to be asked for. */
  restore(one: T): void {
    for (const client of one.clients) this.#speakers.set(client, one);
  }

  /** Who speaks for a client. */
  speaker(client: number): T | undefined {
    return this.#speakers.get(client);
  }

  all(): Presence[] {
    return [...this.#shown.values()].filter(({ state }) => state !== "null");
  }

  /** Who is there and has not said yet what they show. */
  unknown(): Set<T> {
    return new Set([...this.#speakers].filter(([client]) => !this.#shown.has(client)).map(([, one]) => one));
  }

  /** What of it is news, for the others. Nobody speaks for somebody else. */
  hear(one: T, presences: readonly Presence[]): Presence[] {
    return presences.filter((presence) => {
      const { client, clock, state } = presence;
      const before = this.#shown.get(client);
      if (state.length > maxStateChars || (!before && state === "null") || !this.#maySpeak(one, presence)) return false;
      if (before && before.by === one && (clock < before.clock || (clock === before.clock && state !== "null"))) return false;
      this.#shown.set(client, { ...presence, by: one });
      return true;
    });
  }

  /** What the others are to be told when somebody leaves. */
  leave(one: T): Presence[] {
    const told: Presence[] = [];
    for (const client of one.clients) {
      if (this.#speakers.get(client) !== one) continue;
      this.#speakers.delete(client);
      const shown = this.#shown.get(client);
      this.#shown.delete(client);
      this.#remember(client, shown?.clock);
      if (shown && shown.state !== "null") told.push({ client, clock: shown.clock, state: "null" });
    }
    return told;
  }

  #maySpeak(one: T, { client, clock }: Presence): boolean {
    const speaker = this.#speakers.get(client);
    if (speaker === one) return true;
    if (clock <= (this.#left.get(client) ?? -1)) return false;
    if (speaker && Date.now() - speaker.heardAt < silenceMs) return false;
    if (one.clients.length >= maxClients) return false;
    if (speaker) speaker.speakFor(speaker.clients.filter((other) => other !== client));
    this.#speakers.set(client, one);
    one.speakFor([...one.clients, client]);
    return true;
  }

  #remember(client: number, clock = 0): void {
    this.#left.delete(client);
    this.#left.set(client, clock);
    for (const [oldest] of this.#left) {
      if (this.#left.size <= maxRemembered) break;
      this.#left.delete(oldest);
    }
  }
}

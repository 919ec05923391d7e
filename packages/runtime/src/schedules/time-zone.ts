import { fail } from "@thinkery/sdk";

// Clocks change at multiples of this.
const blockMs = 15 * 60 * 1000;
const maxCachedOffsets = 1000;
const weekMs = 7 * 24 * 3600 * 1000;

/** Caches a pure function; bounded, because anyone may spell names differently. */
const maxCachedZones = 20;
const zonesByName = new Map<string, TimeZone>();

/** Throws an error if there is no such time zone. */
export function getTimeZone(name: string): TimeZone {
  let zone = zonesByName.get(name);
  if (!zone) {
    zone = new TimeZone(name);
    if (zonesByName.size >= maxCachedZones) zonesByName.clear();
    zonesByName.set(name, zone);
  }
  return zone;
}

/** Converts between time and what clocks show. A wall time is what they show, as if it were UTC, in milliseconds. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat | undefined;
  readonly #offsets = new Map<number, number>();

  constructor(name: string) {
    if (name === "UTC") return;
    try {
      this.#format = new Intl.DateTimeFormat("en-US", {
        timeZone: name,
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      });
    } catch {
      throw fail("bad_request", `Unknown time zone “${name}”. Use a name such as Europe/Berlin, or UTC.`);
    }
  }

  /** Returns how far the clocks are ahead of UTC. */
  getOffset(time: number): number {
    if (!this.#format) return 0;
    const block = Math.floor(time / blockMs);
    const cached = this.#offsets.get(block);
    if (cached !== undefined) return cached;
    if (this.#offsets.size >= maxCachedOffsets) this.#offsets.clear();
    const offset = this.#computeOffset(this.#format, block * blockMs);
    this.#offsets.set(block, offset);
    return offset;
  }

  /** Returns the first time after `from` and not after `to` at which the clocks change. */
  findChange(from: number, to: number): number | undefined {
    const offset = this.getOffset(from);
    for (let start = from; start < to; start += weekMs) {
      const end = Math.min(start + weekMs, to);
      if (this.getOffset(end) !== offset) return this.#bisect(start, end, offset);
    }
    return undefined;
  }

  /** Returns the time at which clocks show this. Of a skipped hour, the time they change; of a repeated one, the first. */
  toTime(wall: number): number {
    const dayMs = 24 * 3600 * 1000;
    const [before, after] = [this.getOffset(wall - dayMs), this.getOffset(wall + dayMs)];
    const matches = [wall - before, wall - after].filter((time) => time + this.getOffset(time) === wall);
    if (matches.length > 0) return Math.min(...matches);
    return this.findChange(wall - dayMs, wall + dayMs) ?? wall - after;
  }

  #bisect(start: number, end: number, offset: number): number {
    let [low, high] = [Math.floor(start / blockMs), Math.floor(end / blockMs)];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.getOffset(middle * blockMs) === offset) low = middle;
      else high = middle;
    }
    return high * blockMs;
  }

  #computeOffset(format: Intl.DateTimeFormat, time: number): number {
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(time)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - time;
  }
}

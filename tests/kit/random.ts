/** A seeded source of chance: the same seed replays the same test. */
export interface Random {
  seed: number;
  /** A number from 0 up to, not including, `below`. */
  below(below: number): number;
  pick<T>(items: readonly T[]): T;
  chance(probability: number): boolean;
  text(length: number, alphabet?: string): string;
}

const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join("");

/** Takes `SEED` from the environment where it is given, and prints what it took. */
export function random(name: string): Random {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`${name}: SEED=${seed}`);
  return seeded(seed);
}

function seeded(seed: number): Random {
  let state = seed >>> 0;
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    seed,
    below,
    pick: (items) => items[below(items.length)] as never,
    chance: (probability) => next() < probability,
    text: (length, alphabet = printable) =>
      Array.from({ length }, () => alphabet[below(alphabet.length)]).join(""),
  };
}

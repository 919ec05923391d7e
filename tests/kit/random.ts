/** A seeded random source: the same seed replays the same test. */
export interface Random {
  /** The seed of the whole run. `SEED=<seed> npm test -- <file>` replays it. */
  seed: number;
  /** A number from 0 up to, not including, `below`. */
  below(below: number): number;
  pick<T>(items: readonly T[]): T;
  chance(probability: number): boolean;
  text(length: number, alphabet?: string): string;
  shuffle<T>(items: Iterable<T>): T[];
  /** Returns a function that draws items in random order, each once before any repeats. */
  deck<T>(items: readonly T[]): () => T;
}

const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join("");

/** Prints `name` with the run's seed. Different names get independent streams of one seed. */
export function createRandom(name: string): Random {
  const seed = getRunSeed();
  console.log(`${name}: SEED=${seed}`);
  return createSeededRandom(seed, name);
}

/** vitest.config.ts chooses a seed for each run unless one is given. */
export function getRunSeed(): number {
  const seed = Number(process.env.SEED);
  if (!process.env.SEED || !Number.isSafeInteger(seed))
    throw new Error(`SEED must be an integer, not "${process.env.SEED ?? ""}"`);
  return seed;
}

/** Like `createRandom`, but prints nothing. */
export function createSeededRandom(seed: number, name: string): Random {
  let state = mix(seed, name);
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  const shuffle = <T>(items: Iterable<T>): T[] => {
    const shuffled = [...items];
    for (let index = shuffled.length - 1; index > 0; index -= 1) {
      const other = below(index + 1);
      [shuffled[index], shuffled[other]] = [shuffled[other] as T, shuffled[index] as T];
    }
    return shuffled;
  };
  return {
    seed,
    below,
    pick: (items) => items[below(items.length)] as never,
    chance: (probability) => next() < probability,
    text: (length, alphabet = printable) => Array.from({ length }, () => alphabet[below(alphabet.length)]).join(""),
    shuffle,
    deck: (items) => {
      let remaining: (typeof items)[number][] = [];
      return () => {
        if (remaining.length === 0) remaining = shuffle(items);
        return remaining.pop() as (typeof items)[number];
      };
    },
  };
}

/** FNV-1a over the name, starting from the seed. */
function mix(seed: number, name: string): number {
  let hash = (seed ^ 0x811c9dc5) >>> 0;
  for (let index = 0; index < name.length; index += 1)
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193) >>> 0;
  return hash;
}

import { getRunSeed, createSeededRandom } from "./random.ts";

// `npm test` runs a random sample of each large corpus, `npm run test:long` (LONG=1) all of it.

export const isLongRun = (): boolean => process.env.LONG === "1";

interface SampleOptions<T> {
  /** Printed with the sample's size and the run's seed. */
  name: string;
  /** Cases in the sample, unless covering every kind takes more. */
  size: number;
  /** The kind of a case, or all kinds it belongs to. Every kind of the corpus is in every sample. */
  kindOf: (item: T) => string | readonly string[];
}

/** Returns the whole corpus in a long run, otherwise a random sample that covers every kind, in the corpus's order. */
export function sample<T>(corpus: readonly T[], { name, size, kindOf }: SampleOptions<T>): T[] {
  const seed = getRunSeed();
  if (isLongRun() || size >= corpus.length) {
    console.log(`${name}: all ${corpus.length}, SEED=${seed}`);
    return [...corpus];
  }
  const order = createSeededRandom(seed, name).shuffle(corpus.keys());
  const chosen = new Set<number>();
  const covered = new Set<string>();
  for (const index of order) {
    const kinds = [kindOf(corpus[index] as T)].flat();
    if (kinds.every((kind) => covered.has(kind))) continue;
    chosen.add(index);
    for (const kind of kinds) covered.add(kind);
  }
  for (const index of order) {
    if (chosen.size >= size) break;
    chosen.add(index);
  }
  console.log(`${name}: ${chosen.size} of ${corpus.length}, SEED=${seed}`);
  return corpus.filter((_, index) => chosen.has(index));
}

/**
 * How often to repeat a test that generates its own cases. `COUNT_<NAME>` in the environment overrides both numbers.
 */
export function getRepeatCount(name: string, { sample, full }: { sample: number; full: number }): number {
  return readCountOverride(name) ?? (isLongRun() ? full : sample);
}

/** The count set in the environment: `--workspace-kills 20` of `npm run test:long` is `COUNT_WORKSPACE_KILLS=20`. */
export function readCountOverride(name: string): number | undefined {
  const variable = `COUNT_${name.toUpperCase().replaceAll(/\W+/g, "_")}`;
  const value = process.env[variable];
  if (value === undefined) return undefined;
  const count = Number(value);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new Error(`${variable} must be a positive integer, not "${value}"`);
  return count;
}

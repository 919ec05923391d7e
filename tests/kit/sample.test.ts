import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readCountOverride, getRepeatCount, sample } from "./sample.ts";

interface Case {
  id: number;
  kind: string;
}

/** 1,000 cases; each of the rare kinds has a single case. */
const corpus: Case[] = Array.from({ length: 1_000 }, (_, id) => ({
  id,
  kind: id % 100 === 0 ? `rare ${id}` : "common",
}));
const kinds = new Set(corpus.map(({ kind }) => kind));
const takeSample = (size: number) => sample(corpus, { name: "a corpus", size, kindOf: ({ kind }) => kind });
const listIds = (cases: Case[]) => cases.map(({ id }) => id);

let printed: string[];

beforeEach(() => {
  printed = [];
  vi.spyOn(console, "log").mockImplementation((line) => void printed.push(line));
  vi.stubEnv("LONG", undefined);
  vi.stubEnv("SEED", "1");
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test("every sample has a case of every kind, for any seed", () => {
  for (let seed = 0; seed < 200; seed += 1) {
    vi.stubEnv("SEED", String(seed));
    const cases = takeSample(50);
    expect(cases).toHaveLength(50);
    expect(new Set(cases.map(({ kind }) => kind))).toEqual(kinds);
  }
});

test("a sample is larger than requested if there are more kinds than that", () => {
  const cases = takeSample(3);
  expect(new Set(cases.map(({ kind }) => kind))).toEqual(kinds);
  expect(cases).toHaveLength(kinds.size);
});

test("a case with several kinds counts for each of them, and every kind is covered", () => {
  const grid = Array.from({ length: 400 }, (_, index) => ({ row: index % 20, column: Math.floor(index / 20) }));
  const cells = sample(grid, {
    name: "a grid",
    size: 30,
    kindOf: ({ row, column }) => [`row ${row}`, `column ${column}`],
  });
  expect(cells.length).toBeLessThanOrEqual(40);
  expect(new Set(cells.map(({ row }) => row)).size).toBe(20);
  expect(new Set(cells.map(({ column }) => column)).size).toBe(20);
});

test("the same seed gives the same sample, a different seed a different one", () => {
  const first = listIds(takeSample(100));
  expect(listIds(takeSample(100))).toEqual(first);
  vi.stubEnv("SEED", "2");
  expect(listIds(takeSample(100))).not.toEqual(first);
});

test("every case is sampled eventually", () => {
  const seen = new Set<number>();
  for (let seed = 0; seed < 150; seed += 1) {
    vi.stubEnv("SEED", String(seed));
    for (const { id } of takeSample(100)) seen.add(id);
  }
  expect(seen.size).toBe(corpus.length);
});

test("a sample keeps the order of the corpus and has no duplicates", () => {
  const ids = listIds(takeSample(100));
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
});

test("a long run takes the whole corpus", () => {
  vi.stubEnv("LONG", "1");
  expect(takeSample(10)).toEqual(corpus);
  expect(getRepeatCount("kills", { sample: 5, full: 500 })).toBe(500);
});

test("a sample prints its name, its size and the seed that repeats it", () => {
  takeSample(50);
  vi.stubEnv("LONG", "1");
  takeSample(50);
  expect(printed).toEqual(["a corpus: 50 of 1000, SEED=1", "a corpus: all 1000, SEED=1"]);
});

test("sampling fails without a seed, because the run could not be repeated", () => {
  for (const seed of [undefined, "", "x", "1.5"]) {
    vi.stubEnv("SEED", seed);
    expect(() => takeSample(50)).toThrow("SEED must be an integer");
  }
});

test("a count in the environment overrides those of sampled and long runs", () => {
  expect(getRepeatCount("workspace kills", { sample: 5, full: 500 })).toBe(5);
  expect(readCountOverride("workspace kills")).toBeUndefined();
  vi.stubEnv("COUNT_WORKSPACE_KILLS", "20");
  expect(getRepeatCount("workspace kills", { sample: 5, full: 500 })).toBe(20);
  vi.stubEnv("LONG", "1");
  expect(getRepeatCount("workspace kills", { sample: 5, full: 500 })).toBe(20);
  for (const wrong of ["", "0", "-1", "many"]) {
    vi.stubEnv("COUNT_WORKSPACE_KILLS", wrong);
    expect(() => getRepeatCount("workspace kills", { sample: 5, full: 500 })).toThrow(
      "COUNT_WORKSPACE_KILLS must be a positive integer",
    );
  }
});

/** A range that differs between two lists, with its bounds (end exclusive) before and after. */
export interface Block {
  from: number;
  to: number;
  newFrom: number;
  newTo: number;
}

// This runs on the thread that all agents share. When the work budget is used up, the rest becomes one block.
const maxItems = 50_000;
const maxWork = 1_000_000;
const maxEdits = 600;

/**
 * Returns the ranges that differ between two lists, ordered and disjoint. Items that occur once in both lists are fixed
 * points, because people see them as unmoved; between them it finds the shortest edit, as far as the work budget allows.
 */
export function diffSequences(before: readonly string[], after: readonly string[]): Block[] {
  const maxCommon = Math.min(before.length, after.length);
  let head = 0;
  while (head < maxCommon && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < maxCommon - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const end = before.length - tail;
  const newEnd = after.length - tail;
  if (end === head && newEnd === head) return [];
  if (end - head > maxItems || newEnd - head > maxItems) return [{ from: head, to: end, newFrom: head, newTo: newEnd }];
  const [a, b, kinds] = numberItems(before, after, head, tail);
  return toBlocks(new SequenceMatcher(a, b, kinds).run(), head, end, newEnd);
}

function numberItems(
  before: readonly string[],
  after: readonly string[],
  head: number,
  tail: number,
): [Int32Array, Int32Array, number] {
  const numbers = new Map<string, number>();
  const toNumbers = (items: readonly string[]) => {
    const out = new Int32Array(items.length - tail - head);
    for (let index = 0; index < out.length; index += 1) {
      const item = items[index + head] as string;
      let number = numbers.get(item);
      if (number === undefined) numbers.set(item, (number = numbers.size));
      out[index] = number;
    }
    return out;
  };
  const a = toNumbers(before);
  return [a, toNumbers(after), numbers.size];
}

function toBlocks(pairs: Int32Array, head: number, end: number, newEnd: number): Block[] {
  const out: Block[] = [];
  let from = head;
  let newFrom = head;
  const close = (to: number, newTo: number) => {
    if (to > from || newTo > newFrom) out.push({ from, to, newFrom, newTo });
  };
  for (let index = 0; index < pairs.length; index += 1) {
    const pair = pairs[index] as number;
    if (pair < 0) continue;
    close(head + index, head + pair);
    from = head + index + 1;
    newFrom = head + pair + 1;
  }
  close(end, newEnd);
  return out;
}

/** Pairs items of `a` with equal items of `b`, in the same order in both. */
class SequenceMatcher {
  readonly #a: Int32Array;
  readonly #b: Int32Array;
  /** For each item of `a`, the index of its partner in `b`, or -1. */
  readonly #pairs: Int32Array;
  readonly #countA: Int32Array;
  readonly #countB: Int32Array;
  readonly #placeB: Int32Array;
  #remainingWork = maxWork;

  constructor(a: Int32Array, b: Int32Array, kinds: number) {
    this.#a = a;
    this.#b = b;
    this.#pairs = new Int32Array(a.length).fill(-1);
    this.#countA = new Int32Array(kinds);
    this.#countB = new Int32Array(kinds);
    this.#placeB = new Int32Array(kinds);
  }

  run(): Int32Array {
    // A work list instead of recursion, which could be as deep as the text has lines.
    const open: [number, number, number, number][] = [[0, this.#a.length, 0, this.#b.length]];
    for (let range = open.pop(); range; range = open.pop()) {
      let [a0, a1, b0, b1] = range;
      const from = a0;
      while (a0 < a1 && b0 < b1 && this.#a[a0] === this.#b[b0]) this.#pairs[a0++] = b0++;
      while (a0 < a1 && b0 < b1 && this.#a[a1 - 1] === this.#b[b1 - 1]) this.#pairs[--a1] = --b1;
      if (a0 === a1 || b0 === b1) continue;
      this.#remainingWork -= a1 - from + (b1 - b0);
      if (this.#remainingWork < 0) continue;
      const fixed = this.#findFixedPoints(a0, a1, b0, b1);
      if (fixed.length === 0) {
        this.#pairShortestEdit(a0, a1, b0, b1);
        continue;
      }
      for (const [x, y] of fixed) {
        this.#pairs[x] = y;
        if (x > a0 && y > b0) open.push([a0, x, b0, y]);
        a0 = x + 1;
        b0 = y + 1;
      }
      if (a0 < a1 && b0 < b1) open.push([a0, a1, b0, b1]);
    }
    return this.#pairs;
  }

  /** Finds the longest common subsequence of items that occur once on each side. */
  #findFixedPoints(a0: number, a1: number, b0: number, b1: number): [number, number][] {
    this.#count(a0, a1, b0, b1);
    const unique: [number, number][] = [];
    for (let x = a0; x < a1; x += 1) {
      const kind = this.#a[x] as number;
      if (this.#countA[kind] === 1 && this.#countB[kind] === 1) unique.push([x, this.#placeB[kind] as number]);
    }
    this.#resetCounts(a0, a1, b0, b1);
    return findLongestAscending(unique);
  }

  #count(a0: number, a1: number, b0: number, b1: number): void {
    for (let x = a0; x < a1; x += 1) this.#countA[this.#a[x] as number]! += 1;
    for (let y = b0; y < b1; y += 1) {
      const kind = this.#b[y] as number;
      this.#countB[kind]! += 1;
      this.#placeB[kind] = y;
    }
  }

  #resetCounts(a0: number, a1: number, b0: number, b1: number): void {
    for (let x = a0; x < a1; x += 1) this.#countA[this.#a[x] as number] = 0;
    for (let y = b0; y < b1; y += 1) this.#countB[this.#b[y] as number] = 0;
  }

  /** Myers' shortest edit among items that occur on both sides. Pairs nothing if it takes too long. */
  #pairShortestEdit(a0: number, a1: number, b0: number, b1: number): void {
    this.#count(a0, a1, b0, b1);
    const xs: number[] = [];
    const ys: number[] = [];
    for (let x = a0; x < a1; x += 1) if (this.#countB[this.#a[x] as number]) xs.push(x);
    for (let y = b0; y < b1; y += 1) if (this.#countA[this.#b[y] as number]) ys.push(y);
    this.#resetCounts(a0, a1, b0, b1);
    if (xs.length === 0) return;

    // reach[k + offset] is the furthest x on diagonal k; a copy of each round is kept to walk back.
    const maxDistance = Math.min(maxEdits, xs.length + ys.length);
    const reach = new Int32Array(2 * maxDistance + 3);
    const offset = maxDistance + 1;
    const rounds: Int32Array[] = [];
    for (let edits = 0; edits <= maxDistance; edits += 1) {
      rounds.push(reach.slice(offset - edits - 1, offset + edits + 2));
      for (let k = -edits; k <= edits; k += 2) {
        const down =
          k === -edits || (k !== edits && (reach[offset + k - 1] as number) < (reach[offset + k + 1] as number));
        let x = down ? (reach[offset + k + 1] as number) : (reach[offset + k - 1] as number) + 1;
        let y = x - k;
        const start = x;
        while (x < xs.length && y < ys.length && this.#a[xs[x] as number] === this.#b[ys[y] as number]) {
          x += 1;
          y += 1;
        }
        reach[offset + k] = x;
        this.#remainingWork -= x - start + 1;
        if (x >= xs.length && y >= ys.length) return this.#walkBack(xs, ys, rounds);
      }
      if (this.#remainingWork < 0) return;
    }
  }

  #walkBack(xs: number[], ys: number[], rounds: Int32Array[]): void {
    let x = xs.length;
    let y = ys.length;
    for (let edits = rounds.length - 1; edits >= 0; edits -= 1) {
      // The copy of this round begins at diagonal -edits - 1.
      const reach = rounds[edits] as Int32Array;
      const at = (k: number) => reach[k + edits + 1] as number;
      const k = x - y;
      const down = k === -edits || (k !== edits && at(k - 1) < at(k + 1));
      const fromX = edits === 0 ? 0 : at(down ? k + 1 : k - 1);
      const fromY = edits === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
      while (x > fromX && y > fromY && this.#a[xs[x - 1] as number] === this.#b[ys[y - 1] as number]) {
        x -= 1;
        y -= 1;
        this.#pairs[xs[x] as number] = ys[y] as number;
      }
      x = fromX;
      y = fromY;
    }
  }
}

function findLongestAscending(points: readonly [number, number][]): [number, number][] {
  const ends: number[] = [];
  const previous = new Int32Array(points.length);
  for (let index = 0; index < points.length; index += 1) {
    const y = (points[index] as [number, number])[1];
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((points[ends[middle] as number] as [number, number])[1] < y) low = middle + 1;
      else high = middle;
    }
    previous[index] = low > 0 ? (ends[low - 1] as number) : -1;
    ends[low] = index;
  }
  const out: [number, number][] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index] as number)
    out.push(points[index] as [number, number]);
  return out.toReversed();
}

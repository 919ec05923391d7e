/** Returns the candidate that a misspelled word most likely stands for, or undefined if none is close. */
export function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  const lowerCase = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    const maxDistance = Math.max(1, Math.floor(Math.max(lowerCase.length, candidate.length) * 0.4));
    // Comparing lengths first keeps absurdly long words cheap.
    if (Math.abs(lowerCase.length - candidate.length) > maxDistance) continue;
    const limit = Math.min(maxDistance, bestDistance - 1);
    const distance = editDistance(...cutCommonEnds(lowerCase, candidate.toLowerCase()), limit);
    if (distance <= limit) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Cuts what two words have in common at their ends, which does not count. */
function cutCommonEnds(one: string, other: string): [string, string] {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  let end = 0;
  const maxEnd = Math.min(one.length, other.length) - start;
  while (end < maxEnd && one.at(-1 - end) === other.at(-1 - end)) end++;
  return [one.slice(start, one.length - end), other.slice(start, other.length - end)];
}

/**
 * Returns the number of insertions, deletions, substitutions and swaps of neighbors between two words, or any number
 * above the limit if there are more.
 */
function editDistance(from: string, to: string, limit: number): number {
  if (limit < 0) return Infinity;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current.push(cost);
    }
    // It can only grow from here. A swap looks back by two rows.
    if (Math.min(...current) > limit && Math.min(...last) > limit) return Infinity;
    beforeLast = last;
    last = current;
  }
  return last[to.length]!;
}

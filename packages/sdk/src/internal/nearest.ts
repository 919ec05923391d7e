/** Returns the candidate that a misspelled word most likely stands for, or undefined if none is close. */
export function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  const lowerCase = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    const maxDistance = Math.max(1, Math.floor(Math.max(lowerCase.length, candidate.length) * 0.4));
    // Comparing lengths first keeps absurdly long words cheap.
    if (Math.abs(lowerCase.length - candidate.length) > maxDistance) continue;
    const distance = editDistance(lowerCase, candidate.toLowerCase());
    if (distance <= maxDistance && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns the number of insertions, deletions, substitutions and swaps of neighbors between two words. */
function editDistance(from: string, to: string): number {
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
    beforeLast = last;
    last = current;
  }
  return last[to.length]!;
}

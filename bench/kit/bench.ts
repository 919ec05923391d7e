/** One thing to measure against another in the same run: absolute times differ between machines, ratios less. */
export interface Bench {
  name: string;
  /** What is measured, in a sentence. */
  about: string;
  run(): Promise<Finding[]>;
}

export interface Finding {
  what: string;
  /** Every sample, so that the spread can be seen and not only believed. */
  samples: Record<string, number[]>;
  unit: "ms" | "MB" | "KB" | "turns/s" | "runs/s" | "fsyncs";
  /** The figure the goal speaks of, with its goal: a bound from above, or from below when it says so. */
  figure: number;
  goal: number;
  atLeast?: true;
}

export const isMet = ({ figure, goal, atLeast }: Finding) => (atLeast ? figure >= goal : figure <= goal);

export function getMedian(samples: number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? (sorted[middle] ?? NaN) : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

/** A ratio of medians, with both sets of samples kept. */
export function compareMedians(
  what: string,
  ours: [string, number[]],
  theirs: [string, number[]],
  goal: number,
): Finding {
  return {
    what,
    unit: "ms",
    samples: { [ours[0]]: ours[1], [theirs[0]]: theirs[1] },
    figure: getMedian(ours[1]) / getMedian(theirs[1]),
    goal,
  };
}

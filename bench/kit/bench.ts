/** A benchmark, usually of two things in the same run: ratios differ less between machines than absolute times. */
export interface Bench {
  name: string;
  /** Describes what is measured. */
  about: string;
  run(): Promise<Finding[]>;
}

export interface Finding {
  what: string;
  /** All samples, so that the spread can be checked. */
  samples: Record<string, number[]>;
  unit: "ms" | "MB" | "KB" | "turns/s" | "runs/s" | "fsyncs" | "processes";
  /** The figure compared with the goal, which is an upper bound, or a lower bound with `atLeast`. */
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

/** Creates a finding from the ratio of two medians. */
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

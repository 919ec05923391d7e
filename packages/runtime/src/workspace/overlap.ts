import type { Overlap } from "@thinkery/sdk";

/** Returns where an overlap is, without the texts of both sides. */
export function omitTexts({ path, line, conflictCopy, reason }: Overlap): Omit<Overlap, "mine" | "theirs"> {
  return {
    path,
    ...(line === undefined ? {} : { line }),
    ...(conflictCopy === undefined ? {} : { conflictCopy }),
    reason,
  };
}

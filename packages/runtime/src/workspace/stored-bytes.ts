import type { ContentWithInfo } from "./content.ts";
import type { Step } from "./step.ts";

/** A larger patch is not worth storing: both texts are stored in full instead. */
export const maxPatchChars = 256 * 1024;

/** About what a row takes besides its text: paths, hashes, the entries of its indices. */
const bytesPerRow = 500;

/** Returns about how many bytes of a database a branch takes that starts with these files. */
export const countBranchBytes = ({ files, textBytes }: { files: number; textBytes: number }) =>
  bytesPerRow * (1 + files) + textBytes;

/**
 * Returns about how many bytes of a database changes take: what the files grow by, and their history. Returns 0 if
 * everything is deleted, which has to be possible without any room.
 */
export function countStoredBytes(steps: readonly Step[]): number {
  if (steps.every(({ after }) => after === undefined)) return 0;
  return steps.reduce((sum, step) => sum + bytesPerRow + countFileBytes(step) + countHistoryBytes(step), bytesPerRow);
}

const countFileBytes = ({ before, after }: Step) => countTextBytes(after) - countTextBytes(before);

function countHistoryBytes({ before, after, kind, patch }: Step): number {
  // A file that is moved has one copy under both of its paths.
  const copies = countTextBytes(before) + (kind === "move" ? 0 : countTextBytes(after));
  if (!patch) return copies;
  const patchChars = patch.reduce((sum, [, removed, inserted]) => sum + removed.length + inserted.length, 0);
  return patchChars > maxPatchChars ? copies : Math.min(patchChars, copies);
}

const countTextBytes = (content: ContentWithInfo | undefined) =>
  content && content.info.blob === undefined ? content.info.size : 0;

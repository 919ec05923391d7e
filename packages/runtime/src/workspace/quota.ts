import { fail } from "@thinkery/sdk";
import { defaultWorkspaceLimits, type WorkspaceLimits } from "@thinkery/sdk/internal";
import type { Totals } from "./file-rows.ts";
import type { Step } from "./step.ts";

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

/** Absent where no daemon made them; then the defaults hold. */
export function getWorkspaceLimits({ WORKSPACE_LIMITS }: { WORKSPACE_LIMITS?: WorkspaceLimits }): WorkspaceLimits {
  return WORKSPACE_LIMITS ?? defaultWorkspaceLimits;
}

/** In bytes. */
export const getMaxFileBytes = ({ maxFileMb }: Pick<WorkspaceLimits, "maxFileMb">) => maxFileMb * megabyte;

/** Is a text of this size one that several can edit at once? */
export const isEditable = (size: number, { maxTextFileKb }: Pick<WorkspaceLimits, "maxTextFileKb">) =>
  size <= maxTextFileKb * kilobyte;

export function checkFileSize(path: string, size: number, limits: Pick<WorkspaceLimits, "maxFileMb">): void {
  if (size > getMaxFileBytes(limits))
    throw fail("too_large", `“${path}” is larger than a file may be: ${limits.maxFileMb} MB.`);
}

/** What all files would come to, if that is not too much. A workspace that has too much already may still become smaller. */
export function checkQuota(steps: readonly Step[], limits: WorkspaceLimits, totals: Totals): Totals {
  const after = { ...totals };
  for (const step of steps) {
    for (const [side, sign] of [
      [step.before, -1],
      [step.after, 1],
    ] as const) {
      if (!side) continue;
      after.files += sign;
      after.bytes += sign * side.info.size;
      if (side.info.blob === undefined) after.textBytes += sign * side.info.size;
    }
    if (!step.after) continue;
    const { size, blob } = step.after.info;
    checkFileSize(step.path, size, limits);
    if (blob === undefined && !isEditable(size, limits))
      throw fail("too_large", `“${step.path}” has more text than can be edited together: ${limits.maxTextFileKb} KB.`);
  }
  if (after.files > Math.max(limits.maxFiles, totals.files))
    throw fail(
      "too_large",
      `A workspace may have ${limits.maxFiles} files, and this would be more. Delete what is not needed.`,
    );
  if (after.bytes > Math.max(limits.maxTotalMb * megabyte, totals.bytes))
    throw fail(
      "too_large",
      `All files of a workspace together may have ${limits.maxTotalMb} MB, and this would be more. Delete what is not needed.`,
    );
  if (after.textBytes > Math.max(limits.maxTextMb * megabyte, totals.textBytes))
    throw fail(
      "too_large",
      `All text of a workspace together may have ${limits.maxTextMb} MB, and this would be more. Delete what is not needed.`,
    );
  return after;
}

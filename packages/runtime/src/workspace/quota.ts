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
export const getMaxFileBytes = ({ fileMb }: Pick<WorkspaceLimits, "fileMb">) => fileMb * megabyte;

/** Is a text of this size one that several can edit at once? */
export const isEditable = (size: number, { textKb }: Pick<WorkspaceLimits, "textKb">) => size <= textKb * kilobyte;

export function checkFileSize(path: string, size: number, limits: Pick<WorkspaceLimits, "fileMb">): void {
  if (size > getMaxFileBytes(limits))
    throw fail("too_large", `“${path}” is larger than a file may be: ${limits.fileMb} MB.`);
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
      throw fail("too_large", `“${step.path}” has more text than can be edited together: ${limits.textKb} KB.`);
  }
  if (after.files > Math.max(limits.files, totals.files))
    throw fail(
      "too_large",
      `A workspace may have ${limits.files} files, and this would be more. Delete what is not needed.`,
    );
  if (after.bytes > Math.max(limits.totalMb * megabyte, totals.bytes))
    throw fail(
      "too_large",
      `All files of a workspace together may have ${limits.totalMb} MB, and this would be more. Delete what is not needed.`,
    );
  if (after.textBytes > Math.max(limits.textMb * megabyte, totals.textBytes))
    throw fail(
      "too_large",
      `All text of a workspace together may have ${limits.textMb} MB, and this would be more. Delete what is not needed.`,
    );
  return after;
}

import { fail } from "@thinkery/sdk";
import { defaultWorkspaceLimits, type WorkspaceLimits } from "@thinkery/sdk/internal";
import type { Totals } from "./file-rows.ts";
import type { Step } from "./step.ts";

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

/** Returns the limits set by the daemon, or the defaults without a daemon. */
export function getWorkspaceLimits({ WORKSPACE_LIMITS }: { WORKSPACE_LIMITS?: WorkspaceLimits }): WorkspaceLimits {
  return WORKSPACE_LIMITS ?? defaultWorkspaceLimits;
}

export const getMaxFileBytes = ({ maxFileMb }: Pick<WorkspaceLimits, "maxFileMb">) => maxFileMb * megabyte;

/** Whether text of this size can be edited live. */
export const isEditable = (size: number, { maxTextFileKb }: Pick<WorkspaceLimits, "maxTextFileKb">) =>
  size <= maxTextFileKb * kilobyte;

export function checkFileSize(path: string, size: number, limits: Pick<WorkspaceLimits, "maxFileMb">): void {
  if (size > getMaxFileBytes(limits))
    throw fail("too_large", `“${path}” is too large: a file can have at most ${limits.maxFileMb} MB.`);
}

/** Returns the new totals. Throws if they exceed a limit, unless a workspace that already did does not grow. */
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
      throw fail(
        "too_large",
        `“${step.path}” is too large to edit live: a text can have at most ${limits.maxTextFileKb} KB.`,
      );
  }
  if (after.files > Math.max(limits.maxFiles, totals.files))
    throw fail("too_large", `A workspace can have at most ${limits.maxFiles} files. Delete files you no longer need.`);
  if (after.bytes > Math.max(limits.maxTotalMb * megabyte, totals.bytes))
    throw fail(
      "too_large",
      `The files of a workspace can have at most ${limits.maxTotalMb} MB in total. Delete files you no longer need.`,
    );
  if (after.textBytes > Math.max(limits.maxTextMb * megabyte, totals.textBytes))
    throw fail(
      "too_large",
      `The text files of a workspace can have at most ${limits.maxTextMb} MB in total. Delete files you no longer need.`,
    );
  return after;
}

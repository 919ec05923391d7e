import { findPathIssue } from "@thinkery/sdk";
import { formatBytes } from "../../parts/amount.ts";
import type { PickedFile } from "./gather.ts";

/** Larger files are sent alone; smaller ones in batches of at most `maxBatchBytes`. */
const maxBatchedFileBytes = 8 * 1024 * 1024;
const maxBatchBytes = 32 * 1024 * 1024;
/** Never accepted, whatever limit the host is configured with; the host enforces its own. */
const maxFileBytes = 100 * 1024 * 1024;

export interface SortedUploads {
  /** Each group becomes one version. */
  groups: PickedFile[][];
  rejected: { picked: PickedFile; reason: string }[];
}

/** Groups files into uploads and rejects invalid ones. */
export function sortUploads(all: readonly PickedFile[]): SortedUploads {
  const sorted: SortedUploads = { groups: [], rejected: [] };
  let group: PickedFile[] = [];
  let size = 0;
  for (const picked of all) {
    const reason =
      findPathIssue(picked.path) ??
      (picked.file.size > maxFileBytes ? `larger than ${formatBytes(maxFileBytes)}` : undefined);
    if (reason !== undefined) {
      sorted.rejected.push({ picked, reason });
      continue;
    }
    if (picked.file.size > maxBatchedFileBytes) {
      sorted.groups.push([picked]);
      continue;
    }
    if (group.length === 0 || size + picked.file.size > maxBatchBytes) {
      sorted.groups.push((group = []));
      size = 0;
    }
    group.push(picked);
    size += picked.file.size;
  }
  return sorted;
}

import { findPathIssue } from "@thinkery/sdk";
import { formatBytes } from "../../parts/amount.ts";
import type { PickedFile } from "./gather.ts";

/** Larger ones go alone; the others go together for as long as they are no more than this. */
const maxBatchedFileBytes = 8 * 1024 * 1024;
const maxBatchBytes = 32 * 1024 * 1024;
/** More is never taken, whatever the host is set to; it says itself what it takes. */
const maxFileBytes = 100 * 1024 * 1024;

export interface SortedUploads {
  /** Each of them becomes one version. */
  groups: PickedFile[][];
  refused: { given: PickedFile; reason: string }[];
}

/** What goes together, and what cannot go at all. */
export function sortUploads(all: readonly PickedFile[]): SortedUploads {
  const sorted: SortedUploads = { groups: [], refused: [] };
  let group: PickedFile[] = [];
  let size = 0;
  for (const given of all) {
    const reason =
      findPathIssue(given.path) ??
      (given.file.size > maxFileBytes ? `it is larger than ${formatBytes(maxFileBytes)}` : undefined);
    if (reason !== undefined) {
      sorted.refused.push({ given, reason });
      continue;
    }
    if (given.file.size > maxBatchedFileBytes) {
      sorted.groups.push([given]);
      continue;
    }
    if (group.length === 0 || size + given.file.size > maxBatchBytes) {
      sorted.groups.push((group = []));
      size = 0;
    }
    group.push(given);
    size += given.file.size;
  }
  return sorted;
}

import type { Stats } from "node:fs";

/** Identifies the content of a file without reading it. */
export interface FileState {
  size: number;
  mtimeMs: number;
  /** Only the kernel sets it, so it reveals a change even if the other times were set back. */
  ctimeMs: number;
  ino: number;
}

export function toFileState({ size, mtimeMs, ctimeMs, ino }: Stats): FileState {
  return { size, mtimeMs, ctimeMs, ino };
}

export function isSameState(one: FileState | undefined, other: FileState | undefined): boolean {
  if (!one || !other) return one === other;
  return (
    one.size === other.size && one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs && one.ino === other.ino
  );
}

// The kernel's clock advances in steps of up to 10 ms; two writes within one step leave the same times.
const clockStepMs = 20;
// Some file systems store whole seconds, FAT only even ones.
const coarseStepMs = 2100;

/**
 * Tells whether the file could be written again without changing its times, because it was changed just before `now`.
 */
export function isFresh({ ctimeMs }: FileState, now: number): boolean {
  return now - ctimeMs < (ctimeMs % 1000 === 0 ? coarseStepMs : clockStepMs);
}

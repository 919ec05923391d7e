import type { Stats } from "node:fs";

/** What tells, without reading it, that a file is still what it was. */
export interface FileState {
  size: number;
  mtimeMs: number;
  /** Nobody but the kernel sets it, so a file whose other times were set back is found out. */
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

// The kernel's clock goes in steps of up to 10 ms; two writes within one leave the same times.
const clockStepMs = 20;
// Some disks keep whole seconds, and FAT every other one.
const coarseStepMs = 2100;

/** Could the file have been written to after we looked, without its times telling? */
export function isFresh({ ctimeMs }: FileState, lookedAt: number): boolean {
  return lookedAt - ctimeMs < (ctimeMs % 1000 === 0 ? coarseStepMs : clockStepMs);
}

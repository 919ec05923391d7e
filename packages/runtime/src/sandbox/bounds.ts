/**
 * Limits of a run's return value and console output. A sandbox reports an error or omits text instead of sending more.
 */
export const maxValueChars = 10 * 1024 * 1024;
export const maxConsoleChars = 64 * 1024;

/** Files a command may change, their total size, and what it may leave in /tmp. */
export const maxChanges = 10_000;
export const maxChangedBytes = 24 * 1024 * 1024;
export const maxScratchBytes = 1024 * 1024;
/** Exported variables that persist to the next command, and the length of a path. */
export const maxEnvironmentBytes = 256 * 1024;
export const maxPathChars = 4096;

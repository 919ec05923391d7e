/** A value or a console may be this long, in characters; a sandbox says so instead of sending more. */
export const maxValueChars = 10 * 1024 * 1024;
export const maxConsoleChars = 64 * 1024;

/** A command may change so many files, with so many bytes in all; and leave so many in /tmp. */
export const maxChanges = 10_000;
export const maxChangedBytes = 24 * 1024 * 1024;
export const maxScratchBytes = 1024 * 1024;
/** Exported variables that last to the next command, in characters; and the longest path. */
export const maxEnvironmentBytes = 256 * 1024;
export const maxPathChars = 4096;

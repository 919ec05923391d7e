/** A value or a console may be this long, in characters; a sandbox says so instead of sending more. */
export const longestValue = 10 * 1024 * 1024;
export const longestConsole = 64 * 1024;

/** A command may change so many files, with so many bytes in all; and leave so many in /tmp. */
export const mostChanges = 10_000;
export const mostChanged = 24 * 1024 * 1024;
export const mostScratch = 1024 * 1024;
/** Exported variables that last to the next command, in characters; and the longest path. */
export const mostEnvironment = 256 * 1024;
export const longestPath = 4096;

/** A value or a console may be this long, in characters; a sandbox says so instead of sending more. */
export const longestValue = 10 * 1024 * 1024;
export const longestConsole = 64 * 1024;

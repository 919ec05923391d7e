import { fileURLToPath } from "node:url";

/**
 * The folder of this checkout, with a trailing slash. A file path and not a URL path, because it may contain spaces.
 */
export const root = fileURLToPath(new URL("..", import.meta.url));

import { fileURLToPath } from "node:url";

/** The folder of this checkout, with a slash at its end. A file path, not a URL's: there may be a space in it. */
export const root = fileURLToPath(new URL("..", import.meta.url));

/** Our part of an isolate, next to the user's code. Bundled to text and loaded into each isolate. */
export { serve } from "./app.ts";
export { importFrom } from "./set-up-globals.ts";
export { run } from "./run.ts";

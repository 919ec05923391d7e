/** What is in an isolate beside the user's code. Bundled to text: a sandbox loads it into each isolate it makes. */
export { serve } from "./app.ts";
export { importFrom } from "./set-up-globals.ts";
export { run } from "./run.ts";

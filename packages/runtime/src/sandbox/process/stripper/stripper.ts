import { WorkerEntrypoint } from "cloudflare:workers";
import { type Strip, strip } from "./strip.ts";

/**
 * Strips types in its own isolate. It is as large as everything else together, so it is only loaded when TypeScript is
 * used.
 */
export default class Stripper extends WorkerEntrypoint {
  strip(source: string): Strip {
    return strip(source);
  }
}

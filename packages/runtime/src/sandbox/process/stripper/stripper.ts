import { WorkerEntrypoint } from "cloudflare:workers";
import { type Strip, strip } from "./strip.ts";

/**
 * The part of a sandbox that knows TypeScript. It is as big as everything else together, so it has an isolate of its
 * own, which is there only once somebody wrote TypeScript.
 */
export default class Stripper extends WorkerEntrypoint {
  strip(given: string): Strip {
    return strip(given);
  }
}

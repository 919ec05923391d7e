import { WorkerEntrypoint } from "cloudflare:workers";

/** What runs inside a sandbox process. It answers the supervisor's ping; code arrives over RPC. */
export default class Sandbox extends WorkerEntrypoint {
  override fetch(): Response {
    return new Response("alive");
  }
}

import { WorkerEntrypoint } from "cloudflare:workers";
import { drain } from "../host/drain.ts";

/**
 * The daemon's own way into main, on a socket only it can open. `POST /drain` is answered when no request is
 * under way; the daemon then kills main, open sockets and all, because whatever was answered is on disk.
 */
export class Supervision extends WorkerEntrypoint {
  override async fetch(request: Request): Promise<Response> {
    if (request.method !== "POST" || new URL(request.url).pathname !== "/drain") {
      return new Response(null, { status: 404 });
    }
    await drain();
    return new Response(null, { status: 204 });
  }
}

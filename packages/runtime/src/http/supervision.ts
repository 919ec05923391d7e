import { WorkerEntrypoint } from "cloudflare:workers";
import { drain } from "../host/drain.ts";

/**
 * The daemon's entry into main, on a socket only it can open. `POST /drain` responds when no request is in flight; the
 * daemon then kills main including open sockets, because everything that was acknowledged is on disk.
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

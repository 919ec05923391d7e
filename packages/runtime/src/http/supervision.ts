import { WorkerEntrypoint } from "cloudflare:workers";
import { fail } from "@thinkery/sdk";

let underWay = 0;
let draining = false;

/** Counts a request until its answer is made. While the host drains, no new one is let in. */
export async function counted(answer: () => Promise<Response>): Promise<Response> {
  if (draining) throw fail("unavailable", "The host is stopping.");
  underWay++;
  try {
    return await answer();
  } finally {
    underWay--;
  }
}

/**
 * The daemon's own way into main, on a socket only it can open. `POST /drain` is answered when no request is
 * under way; the daemon then kills main, open sockets and all, because whatever was answered is on disk.
 */
export class Supervision extends WorkerEntrypoint {
  override async fetch(request: Request): Promise<Response> {
    if (request.method !== "POST" || new URL(request.url).pathname !== "/drain") {
      return new Response(null, { status: 404 });
    }
    draining = true;
    while (underWay > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    return new Response(null, { status: 204 });
  }
}

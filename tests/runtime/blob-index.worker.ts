import { WorkerEntrypoint } from "cloudflare:workers";
import type { BlobIndex } from "../../packages/runtime/src/store/blobs/blob-index.ts";

export { BlobIndex } from "../../packages/runtime/src/store/blobs/blob-index.ts";

/** Whether deletions wait. Polled, because a promise of one request cannot be resolved by another. */
let isHeld = false;
let waiting = 0;

/** The disk, with deletions that can be held. */
export class Disk extends WorkerEntrypoint<{ DISK: Fetcher }> {
  override async fetch(request: Request): Promise<Response> {
    if (request.method === "DELETE") {
      waiting++;
      while (isHeld) await new Promise((resolve) => setTimeout(resolve, 5));
      waiting--;
    }
    return this.env.DISK.fetch(request);
  }
}

/** Calls a method of the index: `POST /<method>` with its arguments. */
export default {
  async fetch(
    request: Request,
    env: { BlobIndex: { getByName(name: string): BlobIndex }; DISK: Fetcher },
  ): Promise<Response> {
    const method = new URL(request.url).pathname.slice(1);
    if (method === "") return new Response("alive");
    if (method === "hold" || method === "go") {
      isHeld = method === "hold";
      return new Response(String(waiting));
    }
    if (method === "waiting") return Response.json(waiting);
    const input = (await request.json()) as never[];
    const index = env.BlobIndex.getByName("blobs") as unknown as Record<string, (...input: never[]) => unknown>;
    try {
      return Response.json((await index[method]?.(...input)) ?? null);
    } catch (error) {
      return Response.json({ code: (error as { code?: string }).code, message: String(error) }, { status: 500 });
    }
  },
};

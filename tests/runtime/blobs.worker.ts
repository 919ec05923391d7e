import { type BlobStore, computeHash } from "../../packages/runtime/src/store/blobs/blobs.ts";
import { createDiskBlobs } from "../../packages/runtime/src/store/blobs/disk.ts";
import { createR2Blobs } from "../../packages/runtime/src/store/blobs/r2.ts";

/** Exposes both blob adapters, running in workerd, to a test in Node: `PUT /disk`, `GET /r2/<hash>`, … */
export default {
  async fetch(request: Request, env: { DISK: never; BUCKET: never }): Promise<Response> {
    const [, adapter, hash = ""] = new URL(request.url).pathname.split("/");
    if (!adapter) return new Response("alive");
    const blobs: BlobStore = adapter === "disk" ? createDiskBlobs(env.DISK) : createR2Blobs(env.BUCKET);
    try {
      return await handle(blobs, request, hash);
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
  },
};

async function handle(blobs: BlobStore, request: Request, hash: string): Promise<Response> {
  switch (request.method) {
    case "PUT": {
      const content = new Uint8Array(await request.arrayBuffer());
      const hash = await computeHash(content);
      await blobs.write(hash, content);
      return new Response(hash);
    }
    case "HEAD":
      return new Response(null, { status: (await blobs.stat(hash)) ? 200 : 404 });
    case "DELETE":
      await blobs.delete(hash);
      return new Response(null, { status: 204 });
    default: {
      const content = await blobs.get(hash);
      return content ? new Response(content as BodyInit) : new Response(null, { status: 404 });
    }
  }
}

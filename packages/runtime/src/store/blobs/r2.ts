import { blobKey, type Blobs, hashOf } from "./blobs.ts";

/** Blobs in an R2 bucket, on Cloudflare. */
export function r2Blobs(bucket: R2Bucket): Blobs {
  return {
    async put(content) {
      const hash = await hashOf(content);
      await bucket.put(blobKey(hash), content);
      return hash;
    },
    async get(hash) {
      const object = await bucket.get(blobKey(hash));
      return object ? new Uint8Array(await object.arrayBuffer()) : undefined;
    },
    async has(hash) {
      return (await bucket.head(blobKey(hash))) !== null;
    },
    async delete(hash) {
      await bucket.delete(blobKey(hash));
    },
  };
}

import { toBlobKey, type Blobs, computeHash } from "./blobs.ts";

/** Stores blobs in an R2 bucket, on Cloudflare. */
export function createR2Blobs(bucket: R2Bucket): Blobs {
  return {
    async put(content) {
      const hash = await computeHash(content);
      await bucket.put(toBlobKey(hash), content);
      return hash;
    },
    async get(hash) {
      const object = await bucket.get(toBlobKey(hash));
      return object ? new Uint8Array(await object.arrayBuffer()) : undefined;
    },
    async has(hash) {
      return (await bucket.head(toBlobKey(hash))) !== null;
    },
    async delete(hash) {
      await bucket.delete(toBlobKey(hash));
    },
  };
}

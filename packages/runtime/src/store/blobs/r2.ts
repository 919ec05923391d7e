import { type BlobStore, isBlobHash, toBlobKey } from "./blobs.ts";

/** Stores blobs in an R2 bucket, on Cloudflare. */
export function createR2Blobs(bucket: R2Bucket): BlobStore {
  return {
    async write(hash, content) {
      await bucket.put(toBlobKey(hash), content);
    },
    async get(hash) {
      const object = await bucket.get(toBlobKey(hash));
      return object ? new Uint8Array(await object.arrayBuffer()) : undefined;
    },
    async stat(hash) {
      const object = await bucket.head(toBlobKey(hash));
      return object ? { size: object.size, storedAt: object.uploaded.getTime() } : undefined;
    },
    async delete(hash) {
      await bucket.delete(toBlobKey(hash));
    },
    async list(folder) {
      const hashes: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await bucket.list({ prefix: `${folder}/`, ...(cursor ? { cursor } : {}) });
        hashes.push(...page.objects.map(({ key }) => key.replace("/", "")));
        cursor = page.truncated ? page.cursor : undefined;
      } while (cursor);
      return { hashes: hashes.filter(isBlobHash), partials: [] };
    },
    // A bucket never shows an object that was not written to its end.
    deletePartial: async () => false,
  };
}

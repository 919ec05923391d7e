import type { BlobStore } from "./blobs.ts";
import { createDiskBlobs } from "./disk.ts";
import { createR2Blobs } from "./r2.ts";

/** Large values: a disk service locally, a bucket on Cloudflare. */
export interface BlobStoreEnv {
  BLOBS: Fetcher;
  BUCKET?: R2Bucket;
}

/** Opens the R2 bucket if one is bound, else the local disk. */
export function openBlobStore(env: BlobStoreEnv): BlobStore {
  return env.BUCKET ? createR2Blobs(env.BUCKET) : createDiskBlobs(env.BLOBS);
}

import type { Blobs } from "./blobs.ts";
import { createDiskBlobs } from "./disk.ts";
import { createR2Blobs } from "./r2.ts";

/** Opens the R2 bucket if one is bound, else the local disk. */
export function openBlobs(env: { BLOBS: Fetcher; BUCKET?: R2Bucket }): Blobs {
  return env.BUCKET ? createR2Blobs(env.BUCKET) : createDiskBlobs(env.BLOBS);
}

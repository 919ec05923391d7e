import type { Blobs } from "./blobs.ts";
import { createDiskBlobs } from "./disk.ts";
import { createR2Blobs } from "./r2.ts";

/** A bucket where there is one, else the machine's own disk. */
export function openBlobs(env: { BLOBS: Fetcher; BUCKET?: R2Bucket }): Blobs {
  return env.BUCKET ? createR2Blobs(env.BUCKET) : createDiskBlobs(env.BLOBS);
}

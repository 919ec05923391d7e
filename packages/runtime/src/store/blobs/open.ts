import type { Blobs } from "./blobs.ts";
import { diskBlobs } from "./disk.ts";
import { r2Blobs } from "./r2.ts";

/** A bucket where there is one, else the machine's own disk. */
export function openBlobs(env: { BLOBS: Fetcher; BUCKET?: R2Bucket }): Blobs {
  return env.BUCKET ? r2Blobs(env.BUCKET) : diskBlobs(env.BLOBS);
}

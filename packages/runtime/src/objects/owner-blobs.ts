import type { Blobs } from "../store/blobs/blobs.ts";
import { openBlobIndex, openCountedBlobs } from "../store/blobs/counted.ts";
import { getWorkspaceLimits } from "../workspace/quota.ts";
import type { DiskQuota } from "./disk-quota.ts";
import type { Env } from "./env.ts";
import { toBlobOwner, visitBlobOwner } from "./visit-blob-owner.ts";

/** Opens the blobs of an agent or an agency, by the name of its object. Those of a sub-agent belong to its root. */
export function openOwnerBlobs(env: Env, key: string, disk: DiskQuota): Blobs {
  return openCountedBlobs({
    env,
    owner: toBlobOwner(env, key),
    maxBytes: getWorkspaceLimits(env).maxBlobMb * 1024 * 1024,
    checkGrowth: (bytes) => disk.checkBlob(bytes),
    review: () => reviewBlobs(env, key, Date.now()),
  });
}

async function reviewBlobs(env: Env, key: string, now: number): Promise<void> {
  const index = openBlobIndex(env);
  if (!index) return;
  const cutoff = now - getWorkspaceLimits(env).blobGraceSeconds * 1000;
  await visitBlobOwner(env, index, key, { visit: await index.startVisit(), cutoff, dryRun: false });
}

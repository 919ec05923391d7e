import type { Blobs } from "../store/blobs/blobs.ts";
import { openBlobIndex, openCountedBlobs } from "../store/blobs/counted.ts";
import { getWorkspaceLimits } from "../workspace/quota.ts";
import type { DiskQuota } from "./disk-quota.ts";
import type { Env } from "./env.ts";
import { visitAgent } from "./visit-agent.ts";

/** Opens the blobs of an agent. Those of a sub-agent belong to its root. */
export function openAgentBlobs(env: Env, root: string, disk: DiskQuota): Blobs {
  return openCountedBlobs({
    env,
    owner: { key: root, object: env.Think.idFromName(root).toString() },
    maxBytes: getWorkspaceLimits(env).maxBlobMb * 1024 * 1024,
    checkGrowth: (bytes) => disk.checkBlob(bytes),
    review: () => reviewBlobs(env, root, Date.now()),
  });
}

async function reviewBlobs(env: Env, agent: string, now: number): Promise<void> {
  const index = openBlobIndex(env);
  if (!index) return;
  const cutoff = now - getWorkspaceLimits(env).blobGraceSeconds * 1000;
  await visitAgent(env, index, agent, { visit: await index.startVisit(), cutoff, dryRun: false });
}

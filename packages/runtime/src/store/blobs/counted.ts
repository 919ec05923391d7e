import { isThinkeryError } from "@thinkery/sdk";
import type { BlobIndex } from "./blob-index.ts";
import { type Blobs, computeHash } from "./blobs.ts";
import { type BlobStoreEnv, openBlobStore } from "./open.ts";
import type { BlobOwner } from "./reference-rows.ts";

export interface BlobEnv extends BlobStoreEnv {
  /** Counts who needs which blob. Without it, nothing is ever deleted. */
  BLOB_INDEX?: { getByName(name: string): BlobIndex };
}

/** One index for all blobs: a reference is a row of 100 bytes, and only large values have any. */
export function openBlobIndex(env: BlobEnv): BlobIndex | undefined {
  return env.BLOB_INDEX?.getByName("blobs");
}

interface CountedBlobsOptions {
  env: BlobEnv;
  /** The object of an agent or an agency. Sub-agents store blobs for their root agent, whose files they may become. */
  owner: BlobOwner;
  maxBytes: number;
  /** Throws if the owner must not store this much more. */
  checkGrowth(bytes: number): Promise<void>;
  /** Gives up what the owner no longer needs. Called when there is no room for a blob. */
  review(): Promise<void>;
}

/** Opens the blobs of an owner. What it stores is recorded as needed by it before the first byte is written. */
export function openCountedBlobs({ env, owner, maxBytes, checkGrowth, review }: CountedBlobsOptions): Blobs {
  const store = openBlobStore(env);

  async function reserve(hash: string, size: number): Promise<void> {
    await checkGrowth(size);
    await openBlobIndex(env)?.reserve(owner, { hash, size }, maxBytes);
  }

  return {
    async put(content) {
      const size = content.byteLength;
      const hash = await computeHash(content);
      await reserve(hash, size).catch(async (error: unknown) => {
        if (!isThinkeryError(error) || error.code !== "too_large") throw error;
        await review();
        await reserve(hash, size);
      });
      await store.write(hash, content);
      return hash;
    },
    get: (hash) => store.get(hash),
  };
}

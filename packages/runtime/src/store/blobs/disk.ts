import { fail } from "@thinkery/sdk";
import { toBlobKey, type Blobs, computeHash } from "./blobs.ts";

/** Stores blobs on the local disk, through workerd's disk service. */
export function createDiskBlobs(disk: Fetcher): Blobs {
  const toUrl = (hash: string) => `http://disk/${toBlobKey(hash)}`;

  return {
    async put(content) {
      const hash = await computeHash(content);
      const response = await disk.fetch(toUrl(hash), { method: "PUT", body: content });
      if (!response.ok) throw fail("unavailable", "The blob could not be stored. Is the disk full?");
      return hash;
    },
    async get(hash) {
      const response = await disk.fetch(toUrl(hash));
      if (response.status === 404) return undefined;
      if (!response.ok) throw fail("unavailable", "The blob could not be read.");
      return new Uint8Array(await response.arrayBuffer());
    },
    async has(hash) {
      const response = await disk.fetch(toUrl(hash), { method: "HEAD" });
      return response.ok;
    },
    async delete(hash) {
      const response = await disk.fetch(toUrl(hash), { method: "DELETE" });
      if (!response.ok && response.status !== 404) throw fail("unavailable", "The blob could not be deleted.");
    },
  };
}

import { fail } from "@thinkery/sdk";
import { type BlobStore, isBlobHash, toBlobKey } from "./blobs.ts";

/** What workerd writes to before it renames it: `.<name>.<process>.<number>.tmp`. */
const partialPattern = /^\.[0-9a-f]{62}\.\d+\.\d+\.tmp$/;

/** Stores blobs on the local disk, through workerd's disk service. */
export function createDiskBlobs(disk: Fetcher): BlobStore {
  const toUrl = (hash: string) => `http://disk/${toBlobKey(hash)}`;

  async function stat(url: string): Promise<{ size: number; storedAt: number } | undefined> {
    const response = await disk.fetch(url, { method: "HEAD" });
    if (response.status === 404) return undefined;
    if (!response.ok) throw fail("unavailable", "A blob could not be examined.");
    const { headers } = response;
    return {
      size: Number(headers.get("content-length") ?? 0),
      storedAt: Date.parse(headers.get("last-modified") ?? "") || Date.now(),
    };
  }

  async function remove(url: string): Promise<void> {
    const response = await disk.fetch(url, { method: "DELETE" });
    if (!response.ok && response.status !== 404) throw fail("unavailable", "The blob could not be deleted.");
  }

  return {
    async write(hash, content) {
      const response = await disk.fetch(toUrl(hash), { method: "PUT", body: content });
      if (!response.ok) throw fail("unavailable", "The blob could not be stored. Is the disk full?");
    },
    async get(hash) {
      const response = await disk.fetch(toUrl(hash));
      if (response.status === 404) return undefined;
      if (!response.ok) throw fail("unavailable", "The blob could not be read.");
      return new Uint8Array(await response.arrayBuffer());
    },
    stat: (hash) => stat(toUrl(hash)),
    delete: (hash) => remove(toUrl(hash)),
    async list(folder) {
      const response = await disk.fetch(`http://disk/${folder}/`);
      if (response.status === 404) return { hashes: [], partials: [] };
      if (!response.ok) throw fail("unavailable", "The blobs could not be listed.");
      const names = ((await response.json()) as { name: string }[]).map(({ name }) => name);
      return {
        hashes: names.map((name) => folder + name).filter(isBlobHash),
        partials: names.filter((name) => partialPattern.test(name)),
      };
    },
    async deletePartial(folder, name, { cutoff, dryRun }) {
      const url = `http://disk/${folder}/${name}`;
      const found = await stat(url);
      if (!found || found.storedAt >= cutoff) return false;
      if (!dryRun) await remove(url);
      return true;
    },
  };
}

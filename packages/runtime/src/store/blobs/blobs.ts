/**
 * Content-addressed storage for large values. The same content is stored once, and a stored blob never changes, so
 * readers may cache it forever.
 */
export interface Blobs {
  /** Stores the bytes; returns their SHA-256 in hex. */
  put(content: Uint8Array): Promise<string>;
  get(hash: string): Promise<Uint8Array | undefined>;
}

/** Where the bytes are, without any knowledge of who needs them. */
export interface BlobStore {
  write(hash: string, content: Uint8Array): Promise<void>;
  get(hash: string): Promise<Uint8Array | undefined>;
  /** Returns undefined if there is no such blob. */
  stat(hash: string): Promise<BlobInfo | undefined>;
  /** Succeeds if there is no such blob. */
  delete(hash: string): Promise<void>;
  /** Lists what is stored under the first two digits of a hash. */
  list(folder: string): Promise<{ hashes: string[]; partials: string[] }>;
  /** Deletes what an interrupted write left, if it is old enough. Returns whether it is. */
  deletePartial(folder: string, name: string, options: { cutoff: number; dryRun: boolean }): Promise<boolean>;
}

export interface BlobInfo {
  size: number;
  storedAt: number;
}

/** The folders that hold all blobs: the first two digits of their hashes. */
export const blobFolders: readonly string[] = Array.from({ length: 256 }, (_, index) =>
  index.toString(16).padStart(2, "0"),
);

export async function computeHash(content: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns a blob's storage key. Two levels, because some file systems slow down with 100,000 entries in a folder. */
export function toBlobKey(hash: string): string {
  if (!isBlobHash(hash)) throw new TypeError("not a blob hash");
  return `${hash.slice(0, 2)}/${hash.slice(2)}`;
}

export function isBlobHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

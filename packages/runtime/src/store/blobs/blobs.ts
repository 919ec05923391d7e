/**
 * Content-addressed storage for large values. The same content is stored once, and a stored blob never changes, so
 * readers may cache it forever.
 */
export interface Blobs {
  /** Stores the bytes; returns their SHA-256 in hex. */
  put(content: Uint8Array): Promise<string>;
  get(hash: string): Promise<Uint8Array | undefined>;
  has(hash: string): Promise<boolean>;
  delete(hash: string): Promise<void>;
}

export async function computeHash(content: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns a blob's storage key. Two levels, because some file systems slow down with 100,000 entries in a folder. */
export function toBlobKey(hash: string): string {
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new TypeError("not a blob hash");
  return `${hash.slice(0, 2)}/${hash.slice(2)}`;
}

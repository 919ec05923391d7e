/**
 * The door to big values: content goes in, its hash comes out. The same content is stored once; a stored blob
 * never changes, so a reader may cache it for ever.
 */
export interface Blobs {
  /** Stores the bytes and answers their SHA-256 in hex. */
  put(content: Uint8Array): Promise<string>;
  get(hash: string): Promise<Uint8Array | undefined>;
  has(hash: string): Promise<boolean>;
  delete(hash: string): Promise<void>;
}

export async function computeHash(content: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Where a blob lies. Two levels, because some file systems slow down with a hundred thousand names in a folder. */
export function toBlobKey(hash: string): string {
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new TypeError("not a blob hash");
  return `${hash.slice(0, 2)}/${hash.slice(2)}`;
}

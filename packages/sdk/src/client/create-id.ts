/**
 * Creates a random id. `crypto.randomUUID` only exists in secure contexts, and a page may be served over plain HTTP.
 */
export function createId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

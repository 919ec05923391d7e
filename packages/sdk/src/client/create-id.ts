/** `crypto.randomUUID` is missing where a page does not come from this machine or over TLS. */
export function createId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

import { createHmac, timingSafeEqual } from "node:crypto";

/** What `X-Thinkery-Signature` says: when the body was signed, and signatures of which one must be right. */
export interface WebhookSignature {
  /** Seconds since 1970. */
  timestamp: number;
  /** In hex. Several while a sender changes its secret. */
  signatures: readonly string[];
}

/** How old a signature may be, and how far its sender's clock may be ahead of ours. */
export const maxSignatureAgeSeconds = 5 * 60;

const maxHeaderChars = 2000;
const maxSignatures = 10;

/** Parses `t=<unix seconds>,v1=<hex>[,v1=<hex>…]`. Returns undefined if it is anything else; other keys are ignored. */
export function parseWebhookSignature(header: string | null): WebhookSignature | undefined {
  if (header === null || header.length > maxHeaderChars) return undefined;
  const pairs = header.split(",").map((part) => part.trim().split("="));
  if (pairs.some(({ length }) => length !== 2)) return undefined;
  const listValues = (name: string) => pairs.filter(([key]) => key === name).map(([, value = ""]) => value);
  const [timestamp = "", ...others] = listValues("t");
  const signatures = listValues("v1");
  if (others.length > 0 || !/^[1-9]\d{0,11}$/.test(timestamp)) return undefined;
  if (signatures.length === 0 || signatures.length > maxSignatures) return undefined;
  if (!signatures.every((signature) => /^[0-9a-f]{64}$/i.test(signature))) return undefined;
  return { timestamp: Number(timestamp), signatures: signatures.map((signature) => signature.toLowerCase()) };
}

/** Returns whether a signature is neither too old nor from the future. */
export function isTimely({ timestamp }: Pick<WebhookSignature, "timestamp">, now: number): boolean {
  return Math.abs(now / 1000 - timestamp) <= maxSignatureAgeSeconds;
}

/**
 * Returns the right signature in hex if it is among those given, which are all compared in constant time. The same
 * timestamp and body always have the same one.
 */
export function verifyWebhookSignature(
  { timestamp, signatures }: WebhookSignature,
  body: Uint8Array,
  secret: string,
): string | undefined {
  const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest();
  const matches = signatures.filter((signature) => timingSafeEqual(Buffer.from(signature, "hex"), expected));
  return matches.length > 0 ? expected.toString("hex") : undefined;
}

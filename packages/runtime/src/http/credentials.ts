import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * A credential names its user and is signed by this host, so that a forged one is rejected without waking or creating
 * an object. Whether it is still valid, only the user's object knows.
 */
const credentialPattern = /^thk_([A-Za-z0-9_-]{1,100})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{22})$/;

export interface MintedCredential {
  secret: string;
  id: string;
  hash: string;
}

export function mintCredential(user: string, signingKey: string): MintedCredential {
  const body = `${Buffer.from(user).toString("base64url")}.${randomBytes(32).toString("base64url")}`;
  const secret = `thk_${body}.${sign(body, signingKey)}`;
  const hash = sha256(secret);
  return { secret, hash, id: `${user}.${hash.slice(0, 12)}` };
}

/** Creates a secret for the page, to be kept in its origin's storage. Usable as a WebSocket subprotocol. */
export function createPageSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Returns the user of a credential, or undefined if this host did not sign it. */
export function verifyCredential(secret: string, signingKey: string): string | undefined {
  const match = credentialPattern.exec(secret);
  if (!match) return undefined;
  const [, user = "", random, signature = ""] = match;
  if (!isSameText(sign(`${user}.${random}`, signingKey), signature)) return undefined;
  return Buffer.from(user, "base64url").toString();
}

/** Returns the user of a token id such as `bob.1f2e3d4c5b6a`. */
export function parseTokenUser(id: string): string | undefined {
  const dot = id.lastIndexOf(".");
  return dot > 0 ? id.slice(0, dot) : undefined;
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Compares in constant time. */
export function isSameText(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

function sign(body: string, key: string): string {
  return createHmac("sha256", key).update(body).digest().subarray(0, 16).toString("base64url");
}

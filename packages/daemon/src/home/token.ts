import { randomBytes } from "node:crypto";
import { chmod, readFile, stat } from "node:fs/promises";
import { fail } from "@thinkery/sdk";
import { createFileAtomic, writeFileAtomic } from "./files.ts";
import { toHomeError } from "./home-error.ts";
import type { Home } from "./home.ts";

// Fits in an Authorization header and is long enough not to be guessed.
const tokenPattern = /^[\x21-\x7e]{16,512}$/;
const keyPattern = /^[0-9a-f]{64}$/;

/** Returns the admin token; undefined if no host was ever started here. */
export async function readToken(home: Home): Promise<string | undefined> {
  return readSecret(home, home.tokenFile, tokenPattern);
}

/** Returns the admin token; creates it on the first start. A `given` token replaces the stored one. */
export async function ensureToken(home: Home, given?: string): Promise<string> {
  if (given === undefined) return ensureSecret(home, home.tokenFile, tokenPattern);
  if (!tokenPattern.test(given)) {
    throw fail("bad_request", "THINKERY_TOKEN must be 16 to 512 printable characters without spaces.");
  }
  try {
    if ((await readToken(home).catch(() => undefined)) !== given) await writeFileAtomic(home.tokenFile, `${given}\n`);
  } catch (error) {
    throw toHomeError(home.path, error);
  }
  return given;
}

/** Returns the key that signs cookies and links; it never leaves this machine. */
export async function ensureSigningKey(home: Home): Promise<string> {
  return ensureSecret(home, home.signingKeyFile, keyPattern);
}

async function ensureSecret(home: Home, file: string, pattern: RegExp): Promise<string> {
  const existing = await readSecret(home, file, pattern);
  if (existing) return existing;
  const fresh = randomBytes(32).toString("hex");
  try {
    if (await createFileAtomic(file, `${fresh}\n`)) return fresh;
  } catch (error) {
    throw toHomeError(home.path, error);
  }
  // Another process created it first.
  return (await readSecret(home, file, pattern)) ?? ensureSecret(home, file, pattern);
}

async function readSecret(home: Home, file: string, pattern: RegExp): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
    if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw toHomeError(home.path, error);
  }
  const secret = text.trim();
  if (!pattern.test(secret)) {
    throw fail(
      "unavailable",
      `${file} is empty or damaged. Restore it, or remove it to create a new one on the next start.`,
    );
  }
  return secret;
}

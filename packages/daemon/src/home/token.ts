import { randomBytes } from "node:crypto";
import { chmod, readFile, stat } from "node:fs/promises";
import { fail } from "@thinkery/sdk";
import { createFileAtomic, writeFileAtomic } from "./files.ts";
import { toHomeError } from "./home-error.ts";
import type { Home } from "./home.ts";

// What fits in an Authorization header and cannot be guessed.
const tokenPattern = /^[\x21-\x7e]{16,512}$/;
const keyPattern = /^[0-9a-f]{64}$/;

/** The admin token, or nothing when no host was ever started here. */
export async function readToken(home: Home): Promise<string | undefined> {
  return readSecret(home, home.tokenFile, tokenPattern);
}

/** The admin token, made on the first start. A `given` one takes the place of the stored one. */
export async function ensureToken(home: Home, given?: string): Promise<string> {
  if (given === undefined) return ensureSecret(home, home.tokenFile, tokenPattern);
  if (!tokenPattern.test(given)) {
    throw fail("bad_request", "THINKERY_TOKEN must have 16 to 512 printable characters and no spaces.");
  }
  try {
    if ((await readToken(home).catch(() => undefined)) !== given) await writeFileAtomic(home.tokenFile, `${given}\n`);
  } catch (error) {
    throw toHomeError(home.path, error);
  }
  return given;
}

/** What signs cookies and links; never leaves this machine. */
export async function ensureSigningKey(home: Home): Promise<string> {
  return ensureSecret(home, home.signingKeyFile, keyPattern);
}

async function ensureSecret(home: Home, file: string, shape: RegExp): Promise<string> {
  const known = await readSecret(home, file, shape);
  if (known) return known;
  const fresh = randomBytes(32).toString("hex");
  try {
    if (await createFileAtomic(file, `${fresh}\n`)) return fresh;
  } catch (error) {
    throw toHomeError(home.path, error);
  }
  const first = await readSecret(home, file, shape);
  return first ?? ensureSecret(home, file, shape);
}

async function readSecret(home: Home, file: string, shape: RegExp): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
    if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw toHomeError(home.path, error);
  }
  const secret = text.trim();
  if (!shape.test(secret)) {
    throw fail(
      "unavailable",
      `${file} is empty or damaged; restore it, or remove it to get a new one at the next start.`,
    );
  }
  return secret;
}

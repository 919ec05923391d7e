import type { Scope } from "@thinkery/sdk";
import type { Env } from "./env.ts";

/**
 * What a connection depends on and can lose: a credential of a user, by the hash of its secret, or a membership in the
 * agency of the object that holds the connection (`formatMembership`).
 */
export interface Credential {
  user: string;
  hash: string;
}

const membershipPrefix = "member=";

/** Returns what stands in place of a hash for a connection that needs these scopes of a membership. */
export const formatMembership = (scopes: readonly string[]) => membershipPrefix + scopes.join(",");

/** Returns the scopes that a connection needs of a membership; undefined if it depends on a credential. */
export function parseMembership(hash: string): Scope[] | undefined {
  if (!hash.startsWith(membershipPrefix)) return undefined;
  return hash.slice(membershipPrefix.length).split(",") as Scope[];
}

/** An object with connections, as its user calls it to close them. */
export interface ConnectionHolder {
  kind: "Think" | "Agency" | "User";
  name: string;
}

/** WebSocket close codes and reasons. */
const credentialEnd = [4401, "The token has expired or was revoked."] as const;
const membershipEnd = [4403, "You are no longer a member of this agency, or may do less in it."] as const;

/** The tag of a credential's sockets. Names and hashes contain no colon. */
const formatTag = ({ user, hash }: Credential) => `credential:${user}:${hash}`;

function parseTag(tag: string): Credential | undefined {
  const [prefix, user, hash] = tag.split(":");
  return prefix === "credential" && user && hash ? { user, hash } : undefined;
}

/** Reads the credentials that `http/forward.ts` passes on. */
function readCredentials({ headers }: Request): Credential[] {
  const user = headers.get("x-thinkery-user");
  const hashes = [headers.get("x-thinkery-credential"), headers.get("x-thinkery-membership")];
  return hashes.flatMap((hash) => (user && hash ? { user, hash } : []));
}

interface CredentialWatchOptions {
  ctx: DurableObjectState;
  env: Env;
  /** Absent in a sub-agent: its root agent holds its connections. */
  holder: ConnectionHolder | undefined;
}

/**
 * Ends the connections of one object when their credentials do. The user's object knows when that is; it is told which
 * objects have connections of a credential. Sockets are found by tag, which survives hibernation.
 */
export class CredentialWatch {
  readonly #options: CredentialWatchOptions;
  /** How to end each stream, by the tag of its credential. */
  readonly #streams = new Map<string, Set<() => void>>();

  constructor(options: CredentialWatchOptions) {
    this.#options = options;
  }

  /** Returns the tags of a new socket. */
  static createTags(request: Request): string[] {
    return readCredentials(request).map(formatTag);
  }

  /** Closes a new socket when one of its credentials ends, or at once if one has ended during the handshake. */
  watchSocket(request: Request): void {
    for (const credential of readCredentials(request)) this.#options.ctx.waitUntil(this.#watch(credential));
  }

  /** Calls `end` when one of the credentials ends. Returns a function to call if the stream ends before. */
  watchStream(credentials: readonly Credential[], end: () => void): () => void {
    const releases = credentials.map((credential) => this.#watchStream(credential, end));
    return () => {
      for (const release of releases) release();
    };
  }

  #watchStream(credential: Credential, end: () => void): () => void {
    const tag = formatTag(credential);
    const ends = this.#streams.get(tag) ?? new Set();
    this.#streams.set(tag, ends.add(end));
    this.#options.ctx.waitUntil(this.#watch(credential));
    return () => {
      ends.delete(end);
      if (ends.size === 0) this.#streams.delete(tag);
      this.#options.ctx.waitUntil(this.#releaseIfUnused(credential));
    };
  }

  /** Returns a stream that ends when one of the credentials does. */
  endStream(credentials: readonly Credential[], source: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const [reader, writer] = [source.getReader(), writable.getWriter()];
    // Not `pipeTo` with a signal: it would notice that only with the next chunk.
    const end = () => Promise.allSettled([writer.close(), reader.cancel()]);
    const release = this.watchStream(credentials, () => void end());
    const copy = async () => {
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) await writer.write(chunk.value);
    };
    this.#options.ctx.waitUntil(
      copy()
        .catch(() => {})
        .then(end)
        .finally(release),
    );
    return readable;
  }

  /** Tells the user's object if this was the last connection of a credential. */
  noteClosed(socket: WebSocket): void {
    const { ctx } = this.#options;
    for (const credential of ctx.getTags(socket).flatMap((tag) => parseTag(tag) ?? []))
      ctx.waitUntil(this.#releaseIfUnused(credential));
  }

  close(credential: Credential): void {
    const [code, reason] = parseMembership(credential.hash) ? membershipEnd : credentialEnd;
    for (const socket of this.#listSockets(credential)) socket.close(code, reason);
    for (const end of this.#streams.get(formatTag(credential)) ?? []) end();
  }

  async #watch(credential: Credential): Promise<void> {
    const { env, holder } = this.#options;
    if (!holder) return;
    const isValid = await env.User.getByName(credential.user)
      .addConnectionHolder(credential.hash, holder)
      .catch((error: unknown) => {
        console.error("a connection could not be registered with its user", error);
        return false;
      });
    if (!isValid) this.close(credential);
  }

  async #releaseIfUnused(credential: Credential): Promise<void> {
    const { env, holder } = this.#options;
    if (!holder || this.#isUsed(credential)) return;
    await env.User.getByName(credential.user).removeConnectionHolder(credential.hash, holder);
    // A new connection may have been registered before the removal arrived.
    if (this.#isUsed(credential)) await this.#watch(credential);
  }

  #isUsed(credential: Credential): boolean {
    return this.#streams.has(formatTag(credential)) || this.#listSockets(credential).length > 0;
  }

  #listSockets(credential: Credential): WebSocket[] {
    return this.#options.ctx.getWebSockets(formatTag(credential)).filter(({ readyState }) => readyState === 1);
  }
}

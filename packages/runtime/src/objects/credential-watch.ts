import type { Env } from "./env.ts";

/** A credential that can be revoked or expire: its user, and the hash of its secret. */
export interface Credential {
  user: string;
  hash: string;
}

/** An object with connections, as its user calls it to close them. */
export interface ConnectionHolder {
  kind: "Think" | "Agency" | "User";
  name: string;
}

/** WebSocket close code for a credential that is no longer valid. */
const closeCode = 4401;

/** The tag of a credential's sockets. Names and hashes contain no colon. */
const formatTag = ({ user, hash }: Credential) => `credential:${user}:${hash}`;

function parseTag(tag: string): Credential | undefined {
  const [prefix, user, hash] = tag.split(":");
  return prefix === "credential" && user && hash ? { user, hash } : undefined;
}

/** Reads the credential that `http/forward.ts` passes on. */
function readCredential({ headers }: Request): Credential | undefined {
  const [user, hash] = [headers.get("x-thinkery-user"), headers.get("x-thinkery-credential")];
  return user && hash ? { user, hash } : undefined;
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
  /** How to end each stream, by the hash of its credential. */
  readonly #streams = new Map<string, Set<() => void>>();

  constructor(options: CredentialWatchOptions) {
    this.#options = options;
  }

  /** Returns the tags of a new socket. */
  static createTags(request: Request): string[] {
    const credential = readCredential(request);
    return credential ? [formatTag(credential)] : [];
  }

  /** Closes a new socket when its credential ends, or at once if it has ended during the handshake. */
  watchSocket(request: Request): void {
    const credential = readCredential(request);
    if (credential) this.#options.ctx.waitUntil(this.#watch(credential));
  }

  /** Calls `end` when the credential ends. Returns a function to call if the stream ends before. */
  watchStream(credential: Credential, end: () => void): () => void {
    const { hash } = credential;
    const ends = this.#streams.get(hash) ?? new Set();
    this.#streams.set(hash, ends.add(end));
    this.#options.ctx.waitUntil(this.#watch(credential));
    return () => {
      ends.delete(end);
      if (ends.size === 0) this.#streams.delete(hash);
      this.#options.ctx.waitUntil(this.#releaseIfUnused(credential));
    };
  }

  /** Returns a stream that ends when the credential does. */
  endStream(credential: Credential, source: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const [reader, writer] = [source.getReader(), writable.getWriter()];
    // Not `pipeTo` with a signal: it would notice that only with the next chunk.
    const end = () => Promise.allSettled([writer.close(), reader.cancel()]);
    const release = this.watchStream(credential, () => void end());
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
    for (const socket of this.#listSockets(credential))
      socket.close(closeCode, "The token has expired or was revoked.");
    for (const end of this.#streams.get(credential.hash) ?? []) end();
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
    return this.#streams.has(credential.hash) || this.#listSockets(credential).length > 0;
  }

  #listSockets(credential: Credential): WebSocket[] {
    return this.#options.ctx.getWebSockets(formatTag(credential)).filter(({ readyState }) => readyState === 1);
  }
}

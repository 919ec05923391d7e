import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, readFile, realpath } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { createFileAtomic } from "../home/files.ts";
import { toHomeError } from "../home/home-error.ts";
import type { Home } from "../home/home.ts";

/**
 * Ensures one host per home. The kernel holds the lock, so a crash cannot leave a stale one. Every child inherits `fd`,
 * so the lock is held until the last child of a crashed host is gone, and two hosts never write to the same files.
 */
export interface Lock {
  fd: number;
  release(): Promise<void>;
}

/** Returns undefined if another host, or a remaining child of one, holds the lock. */
export async function takeLock(home: Home): Promise<Lock | undefined> {
  try {
    return process.platform === "linux" ? await bindLock(home) : await lockFile(home);
  } catch (error) {
    throw toHomeError(home.path, error);
  }
}

// An abstract socket has no file that could be left behind. Its name contains a secret, because any user may bind any
// name.
async function bindLock(home: Home): Promise<Lock | undefined> {
  const secret = await readLockSecret(home);
  const name = createHash("sha256")
    .update(`${await realpath(home.path)}\0${secret}`)
    .digest("hex");
  const server = createServer((connection) => connection.destroy());
  const isBound = await new Promise<boolean>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(false) : reject(error),
    );
    server.listen(`\0thinkery-${name}`, () => resolve(true));
  });
  if (!isBound) return undefined;
  server.unref();
  return {
    fd: getDescriptor(server),
    release: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function readLockSecret(home: Home): Promise<string> {
  const existing = await readFile(home.lockFile, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (existing !== undefined) return existing;
  await createFileAtomic(home.lockFile, `${randomBytes(16).toString("hex")}\n`);
  return readFile(home.lockFile, "utf8");
}

// Node has no public API for a listening socket's descriptor.
function getDescriptor(server: Server): number {
  const { fd } = (server as unknown as { _handle: { fd: number } })._handle;
  if (!(fd >= 0)) throw new Error("the lock has no descriptor");
  return fd;
}

// On macOS and the BSDs, opens and locks in one call.
const O_EXLOCK = 0x20;

async function lockFile(home: Home): Promise<Lock | undefined> {
  try {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK | O_EXLOCK;
    const file = await open(home.lockFile, flags, 0o600);
    return { fd: file.fd, release: () => file.close() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EAGAIN" || code === "EWOULDBLOCK") return undefined;
    throw error;
  }
}

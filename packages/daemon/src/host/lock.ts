import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, readFile, realpath } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { createFileAtomic } from "../home/files.ts";
import { toHomeError } from "../home/home-error.ts";
import type { Home } from "../home/home.ts";

/**
 * One host per home. The kernel holds the lock, so a crash cannot leave a stale one; every child inherits
 * `fd`, so it stays taken until the last child of a crashed host is gone and two generations never share a disk.
 */
export interface Lock {
  fd: number;
  release(): Promise<void>;
}

/** The lock, or nothing when another host (or what is left of one) has it. */
export async function takeLock(home: Home): Promise<Lock | undefined> {
  try {
    return process.platform === "linux" ? await bindLock(home) : await lockFile(home);
  } catch (error) {
    throw toHomeError(home.path, error);
  }
}

// An abstract socket has no file that could be left behind. Its name holds a secret, for any user may bind any name.
async function bindLock(home: Home): Promise<Lock | undefined> {
  const secret = await readLockSecret(home);
  const name = createHash("sha256")
    .update(`${await realpath(home.path)}\0${secret}`)
    .digest("hex");
  const server = createServer((connection) => connection.destroy());
  const taken = await new Promise<boolean>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(false) : reject(error),
    );
    server.listen(`\0thinkery-${name}`, () => resolve(true));
  });
  if (!taken) return undefined;
  server.unref();
  return {
    fd: getDescriptor(server),
    release: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function readLockSecret(home: Home): Promise<string> {
  const known = await readFile(home.lockFile, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (known !== undefined) return known;
  await createFileAtomic(home.lockFile, `${randomBytes(16).toString("hex")}\n`);
  return readFile(home.lockFile, "utf8");
}

// Node has no public way to a listening socket's descriptor.
function getDescriptor(server: Server): number {
  const { fd } = (server as unknown as { _handle: { fd: number } })._handle;
  if (!(fd >= 0)) throw new Error("the lock has no descriptor");
  return fd;
}

// macOS and the BSDs: open and flock in one call.
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

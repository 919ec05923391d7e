import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { chmod, lstat, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, parse, resolve } from "node:path";
import { fail } from "@thinkery/sdk";
import { writeFileAtomic } from "./files.ts";
import { toHomeError } from "./home-error.ts";

/** The data folder and the paths in it. */
export interface Home {
  path: string;
  objects: string;
  blobs: string;
  logs: string;
  /** Sockets and generated configuration; not needed after the host has stopped. */
  run: string;
  daemonFile: string;
  tokenFile: string;
  signingKeyFile: string;
  lockFile: string;
}

const formatVersion = 1;

// Socket paths are limited to 104 (macOS) or 108 bytes; our longest socket name is sandbox-NN.sock.
const maxRunPathBytes = 90 - "/sandbox-00.sock".length;

/** Returns the paths of the data folder without touching the disk. */
export function locateHome(env: NodeJS.ProcessEnv): Home {
  const path = resolveRealPath(resolve(env["THINKERY_HOME"] || join(homedir(), ".thinkery")));
  return {
    path,
    objects: join(path, "objects"),
    blobs: join(path, "blobs"),
    logs: join(path, "logs"),
    run: getRunFolder(path),
    daemonFile: join(path, "daemon.json"),
    tokenFile: join(path, "token"),
    signingKeyFile: join(path, "signing-key"),
    lockFile: join(path, "lock"),
  };
}

/** Creates and checks the data folder; throws if it cannot be used. */
export async function openHome(env: NodeJS.ProcessEnv): Promise<Home> {
  const { path } = locateHome(env);
  try {
    await refuseSharedFolder(path);
    const hasFormat = await checkFormat(path);
    await makeFolder(path);
    // Resolved again: a symbolic link in the path may only resolve now that the folder exists.
    const home = locateHome(env);
    for (const folder of [home.path, home.objects, home.blobs, home.logs, home.run]) await createPrivateFolder(folder);
    await checkWritable(home);
    if (!hasFormat)
      await writeFileAtomic(join(home.path, "format.json"), `${JSON.stringify({ format: formatVersion })}\n`);
    return home;
  } catch (error) {
    throw toHomeError(path, error);
  }
}

// One canonical path per folder, so that all of its spellings lead to the same sockets.
function resolveRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

// Not os.tmpdir(): the host and a later command may have different TMPDIRs but must use the same folder.
function getRunFolder(path: string): string {
  const inside = join(path, "run");
  if (Buffer.byteLength(inside) <= maxRunPathBytes) return inside;
  const hash = createHash("sha256").update(path).digest("hex").slice(0, 16);
  return `/tmp/thinkery-${process.getuid?.() ?? "user"}-${hash}`;
}

// Making a shared folder private would lock other users out of it.
async function refuseSharedFolder(path: string): Promise<void> {
  const found = await stat(path).catch(ignoreMissing);
  if (!found) return;
  if (!found.isDirectory()) throw fail("unavailable", `${path} is not a folder. Set THINKERY_HOME to a folder.`);
  const isShared = (found.mode & 0o1000) !== 0 || path === parse(path).root || path === resolveRealPath(homedir());
  if (isShared)
    throw fail(
      "unavailable",
      `Refusing to use the shared folder ${path} as data folder. Set THINKERY_HOME to a dedicated folder.`,
    );
  const user = process.getuid?.() ?? 0;
  if (user !== 0 && found.uid !== user) {
    throw fail("unavailable", `${path} belongs to another user. Set THINKERY_HOME to a folder you own.`);
  }
}

async function checkFormat(path: string): Promise<boolean> {
  const text = await readFile(join(path, "format.json"), "utf8").catch(ignoreMissing);
  if (text === undefined) return false;
  const found = parseFormat(text);
  if (found === undefined) {
    throw fail(
      "unavailable",
      `${join(path, "format.json")} is damaged. Restore it from a backup; nothing was changed.`,
    );
  }
  if (found > formatVersion) {
    throw fail(
      "unavailable",
      `${path} was created by a newer Thinkery. Update this installation; nothing was changed.`,
    );
  }
  return true;
}

function parseFormat(text: string): number | undefined {
  try {
    const value = (JSON.parse(text) as { format?: unknown } | null)?.format;
    return Number.isInteger(value) ? (value as number) : undefined;
  } catch {
    return undefined;
  }
}

// Node's recursive mkdir never returns if the system rejects a folder with ENOENT, as /proc does.
async function makeFolder(path: string, retry = true): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || !retry || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await makeFolder(path, false);
  }
}

async function createPrivateFolder(path: string): Promise<void> {
  await makeFolder(path);
  const found = await lstat(path);
  const user = process.getuid?.();
  // In /tmp another user may have created it first.
  if (!found.isDirectory() || (user !== undefined && user !== 0 && found.uid !== user)) {
    throw fail("unavailable", `${path} is not a folder you own. Remove it and try again.`);
  }
  if ((found.mode & 0o077) !== 0) await chmod(path, 0o700);
}

async function checkWritable(home: Home): Promise<void> {
  const file = join(home.path, `.probe-${process.pid}`);
  try {
    await writeFile(file, Buffer.alloc(4096), { mode: 0o600 });
  } finally {
    await rm(file, { force: true });
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}

import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { chmod, lstat, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, parse, resolve } from "node:path";
import { fail } from "@thinkery/sdk";
import { writeFileAtomic } from "./files.ts";
import { toHomeError } from "./home-error.ts";

/** The data folder and the places in it. */
export interface Home {
  path: string;
  objects: string;
  blobs: string;
  logs: string;
  /** Sockets and generated configuration; worth nothing once the host is gone. */
  run: string;
  daemonFile: string;
  tokenFile: string;
  signingKeyFile: string;
  lockFile: string;
}

const formatVersion = 1;

// The kernel's limit for a socket's path is 104 (macOS) or 108 bytes; the longest of ours is sandbox-NN.sock.
const maxRunPathBytes = 90 - "/sandbox-00.sock".length;

/** Where everything is, without changing anything on disk. */
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

/** Makes the data folder ready for use, or says in one sentence why it cannot be. */
export async function openHome(env: NodeJS.ProcessEnv): Promise<Home> {
  const wanted = locateHome(env).path;
  try {
    await refuseSharedFolder(wanted);
    const known = await checkFormat(wanted);
    await makeFolder(wanted);
    // Only now is a link in the path sure to lead somewhere.
    const home = locateHome(env);
    for (const folder of [home.path, home.objects, home.blobs, home.logs, home.run]) await createPrivateFolder(folder);
    await checkWritable(home);
    if (!known) await writeFileAtomic(join(home.path, "format.json"), `${JSON.stringify({ format: formatVersion })}\n`);
    return home;
  } catch (error) {
    throw toHomeError(wanted, error);
  }
}

// One spelling for one folder, so that two ways to write it meet in the same sockets.
function resolveRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

// Not os.tmpdir(): the host and a later command may have different TMPDIRs, and must meet.
function getRunFolder(path: string): string {
  const inside = join(path, "run");
  if (Buffer.byteLength(inside) <= maxRunPathBytes) return inside;
  const hash = createHash("sha256").update(path).digest("hex").slice(0, 16);
  return `/tmp/thinkery-${process.getuid?.() ?? "user"}-${hash}`;
}

// Our permissions would lock others out of a folder that is not only ours.
async function refuseSharedFolder(path: string): Promise<void> {
  const found = await stat(path).catch(ignoreMissing);
  if (!found) return;
  if (!found.isDirectory()) throw fail("unavailable", `${path} is not a folder; set THINKERY_HOME to a folder.`);
  const shared = (found.mode & 0o1000) !== 0 || path === parse(path).root || path === resolveRealPath(homedir());
  if (shared) throw fail("unavailable", `${path} is not Thinkery's alone; set THINKERY_HOME to a folder of its own.`);
  const user = process.getuid?.() ?? 0;
  if (user !== 0 && found.uid !== user) {
    throw fail("unavailable", `${path} belongs to another user; set THINKERY_HOME to a folder of yours.`);
  }
}

async function checkFormat(path: string): Promise<boolean> {
  const text = await readFile(join(path, "format.json"), "utf8").catch(ignoreMissing);
  if (text === undefined) return false;
  const found = parseFormat(text);
  if (found === undefined) {
    throw fail(
      "unavailable",
      `${join(path, "format.json")} is damaged; restore it from a backup. Nothing was changed.`,
    );
  }
  if (found > formatVersion) {
    throw fail("unavailable", `${path} belongs to a newer Thinkery; update this one. Nothing was changed.`);
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

// Node's recursive mkdir never comes back where the system refuses a folder with ENOENT, as /proc does.
async function makeFolder(path: string, again = true): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || !again || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await makeFolder(path, false);
  }
}

async function createPrivateFolder(path: string): Promise<void> {
  await makeFolder(path);
  const found = await lstat(path);
  const user = process.getuid?.();
  // In /tmp somebody else may have been first.
  if (!found.isDirectory() || (user !== undefined && user !== 0 && found.uid !== user)) {
    throw fail("unavailable", `${path} must be a folder of yours; remove what is there and try again.`);
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

import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { chmod, link, realpath, rename, rm, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fail } from "@thinkery/sdk";

interface SaveOptions {
  /** How the place was called by whoever named it. */
  named: string;
  /** What was not asked for by its name is not overwritten. */
  isNew?: boolean;
}

/** Writes a file to the disk here, whole or not at all: what was there before stays until all of it has come. Answers its size. */
export async function saveFile(
  path: string,
  content: Readable,
  { named, isNew = false }: SaveOptions,
): Promise<number> {
  const createExistsError = () => fail("conflict", `“${named}” is there already; say where with -o <file>.`);
  try {
    const found = await stat(path).catch(ignoreMissing);
    if (found && isNew) throw createExistsError();
    // A pipe or a device is written to, and never replaced.
    if (found && !found.isFile()) return await writeStream(path, content);
    const place = found ? await realpath(path) : path;
    const draft = `${place}.${randomBytes(4).toString("hex")}.part`;
    try {
      const size = await writeStream(draft, content);
      if (found) await chmod(draft, found.mode & 0o777);
      await (isNew ? link(draft, place) : rename(draft, place));
      return size;
    } finally {
      await rm(draft, { force: true });
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw createExistsError();
    if (code?.startsWith("E")) throw fail("bad_request", `“${named}” cannot be written: ${message}.`);
    throw error;
  }
}

async function writeStream(path: string, content: Readable): Promise<number> {
  const file = createWriteStream(path);
  await pipeline(content, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code?.startsWith("E") && error.syscall !== undefined) throw error;
    throw fail("unavailable", "The host’s answer was cut off; try again.");
  });
  return file.bytesWritten;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

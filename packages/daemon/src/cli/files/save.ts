import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { chmod, link, realpath, rename, rm, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fail } from "@thinkery/sdk";

interface SaveOptions {
  /** The path as the user wrote it, for messages. */
  label: string;
  /** Fails if the file already exists. */
  isNew?: boolean;
}

/** Writes a local file atomically: an existing one is kept until the new content is complete. Returns its size. */
export async function saveFile(
  path: string,
  content: Readable,
  { label, isNew = false }: SaveOptions,
): Promise<number> {
  const createExistsError = () => fail("conflict", `“${label}” already exists. Choose another file with -o <file>.`);
  try {
    const found = await stat(path).catch(ignoreMissing);
    if (found && isNew) throw createExistsError();
    // A pipe or a device is written to, never replaced.
    if (found && !found.isFile()) return await writeStream(path, content);
    const target = found ? await realpath(path) : path;
    const draft = `${target}.${randomBytes(4).toString("hex")}.part`;
    try {
      const size = await writeStream(draft, content);
      if (found) await chmod(draft, found.mode & 0o777);
      await (isNew ? link(draft, target) : rename(draft, target));
      return size;
    } finally {
      await rm(draft, { force: true });
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw createExistsError();
    if (code?.startsWith("E")) throw fail("bad_request", `Cannot write “${label}”: ${message}.`);
    throw error;
  }
}

async function writeStream(path: string, content: Readable): Promise<number> {
  const file = createWriteStream(path);
  await pipeline(content, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code?.startsWith("E") && error.syscall !== undefined) throw error;
    throw fail("unavailable", "The download was interrupted. Try again.");
  });
  return file.bytesWritten;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

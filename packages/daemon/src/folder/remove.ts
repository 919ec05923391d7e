import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { getErrorCode, isMissing, OpenFolder } from "./open-folder.ts";
import { createYielder } from "./yielder.ts";

/**
 * Removes a folder with everything in it, if it exists. No link is followed, even if another process still changes the
 * folder. Folders inside are moved to the top first, so that no path becomes too long.
 */
export async function removeFolder(path: string): Promise<void> {
  const yieldTurn = createYielder();
  const top = openWritable(path);
  try {
    for (let names = top ? listNames(top) : []; top && names.length > 0; names = listNames(top)) {
      for (const name of names) {
        await yieldTurn();
        removeEntry(top, name);
      }
    }
  } finally {
    top?.close();
  }
  removeIfExists(path);
}

function removeEntry(top: OpenFolder, name: Buffer): void {
  const path = resolveBytes(top, name);
  const folder = openWritable(path);
  try {
    for (const inner of folder ? listNames(folder) : []) {
      const innerPath = resolveBytes(folder as OpenFolder, inner);
      // A folder without permissions cannot be moved.
      const innerFolder = openWritable(innerPath);
      innerFolder?.close();
      if (innerFolder) moveIfExists(innerPath, top.resolve(randomBytes(8).toString("hex")));
      else removeIfExists(innerPath);
    }
  } finally {
    folder?.close();
  }
  removeIfExists(path);
}

/** Returns undefined if there is no folder with that name. */
function openWritable(path: string | Buffer): OpenFolder | undefined {
  try {
    const folder = OpenFolder.openAnyMode(path);
    try {
      if ((folder.stat().mode & 0o700) !== 0o700) folder.setMode(0o700);
    } finally {
      folder.close();
    }
    return OpenFolder.open(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

// Names may be invalid UTF-8.
function listNames(folder: OpenFolder): Buffer[] {
  return readdirSync(folder.path, { encoding: "buffer" });
}

function resolveBytes(folder: OpenFolder, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${folder.path}/`), name]);
}

function moveIfExists(from: Buffer, to: string): void {
  ignoreChanges(() => renameSync(from, to));
}

function removeIfExists(path: string | Buffer): void {
  ignoreChanges(() => {
    if (lstatSync(path).isDirectory()) rmdirSync(path);
    else unlinkSync(path);
  });
}

/** What another process changed meanwhile is found again when the folder is listed the next time. */
function ignoreChanges(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isMissing(error) && !["ENOTEMPTY", "EEXIST", "EISDIR"].includes(getErrorCode(error) ?? "")) throw error;
  }
}

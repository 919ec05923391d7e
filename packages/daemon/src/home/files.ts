import { randomBytes } from "node:crypto";
import { link, open, rename, rm } from "node:fs/promises";

/** Replaces a file atomically: neither a reader nor a crash sees a partial file. */
export async function writeFileAtomic(path: string, text: string): Promise<void> {
  await writeViaDraft(path, text, true, (draft) => rename(draft, path));
}

/** Like `writeFileAtomic` without fsync, for files that need not survive a power failure. */
export async function writeFileAtomicUnsynced(path: string, text: string): Promise<void> {
  await writeViaDraft(path, text, false, (draft) => rename(draft, path));
}

/** Creates a file; returns false if it already exists. */
export async function createFileAtomic(path: string, text: string): Promise<boolean> {
  return writeViaDraft(path, text, true, async (draft) => {
    try {
      await link(draft, path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
  });
}

async function writeViaDraft<T>(
  path: string,
  text: string,
  durable: boolean,
  publish: (draft: string) => Promise<T>,
): Promise<T> {
  const draft = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(text);
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    return await publish(draft);
  } finally {
    await rm(draft, { force: true });
  }
}

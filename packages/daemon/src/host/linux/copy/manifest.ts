import { readFile } from "node:fs/promises";
import type { FileState } from "../../../folder/file-state.ts";
import { writeFileAtomicUnsynced } from "../../../home/files.ts";

/** A file of the working copy. */
export interface Entry {
  /** Its hash in the workspace; absent if the workspace had no such file. */
  hash?: string;
  /** The version that had this hash; a command's change to the file is based on it. */
  base: number;
  /** The state of the file as written, if it can be trusted. */
  state?: FileState;
  /** What we are about to write in its place. After a crash, it may already be there. */
  next?: { hash: string; base: number };
}

/** The version that a working copy is based on. Stored outside the agent's folder, where commands cannot see it. */
export interface Manifest {
  version: number;
  files: Map<string, Entry>;
  /** Some files of that version could not be written yet. */
  isBehind: boolean;
  /** Keys of skipped files that were already reported. */
  reported: string[];
}

const format = 1;

/** Returns an empty manifest if it is missing or damaged; everything in the folder is then compared. */
export async function readManifest(file: string): Promise<Manifest> {
  try {
    const stored = JSON.parse(await readFile(file, "utf8")) as {
      format: number;
      version: number;
      isBehind: boolean;
      told: string[];
      files: [string, Partial<Entry>][];
    };
    if (stored.format !== format || !Number.isInteger(stored.version)) return createEmptyManifest();
    const files = new Map(stored.files.map(([path, entry]) => [path, { base: stored.version, ...entry }]));
    return { version: stored.version, isBehind: stored.isBehind, reported: stored.told, files };
  } catch {
    return createEmptyManifest();
  }
}

export async function writeManifest(file: string, { version, isBehind, reported, files }: Manifest): Promise<void> {
  // The base is omitted if it is the manifest's version, as it is for almost all files.
  const entries = [...files].map(([path, { base, ...entry }]) => [path, base === version ? entry : { base, ...entry }]);
  await writeFileAtomicUnsynced(file, JSON.stringify({ format, version, isBehind, told: reported, files: entries }));
}

function createEmptyManifest(): Manifest {
  return { version: 0, isBehind: false, files: new Map(), reported: [] };
}

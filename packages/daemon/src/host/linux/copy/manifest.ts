import { readFile } from "node:fs/promises";
import type { FileState } from "../../../folder/file-state.ts";
import { writeFileAtomicUnsynced } from "../../../home/files.ts";

/** What is known of a file of the copy. */
export interface Entry {
  /** What it was in the workspace; nothing where there was no such file. */
  hash?: string;
  /** The version that this was in: what a command makes of the file is a change to that one. */
  base: number;
  /** What tells that it is still this. */
  state?: FileState;
  /** We are about to put this in its place. After a crash, it may be there. */
  next?: { hash: string; base: number };
}

/** What a copy is a copy of. It lies beside the folder, where no command can see it. */
export interface Manifest {
  version: number;
  files: Map<string, Entry>;
  /** There are files of that version that could not be put there yet. */
  isBehind: boolean;
  /** What lies in the folder, is not taken, and was said once. */
  told: string[];
}

const format = 1;

/** One that is damaged, or not there, is empty: then everything in the folder is compared. */
export async function readManifest(file: string): Promise<Manifest> {
  try {
    const kept = JSON.parse(await readFile(file, "utf8")) as {
      format: number;
      version: number;
      isBehind: boolean;
      told: string[];
      files: [string, Partial<Entry>][];
    };
    if (kept.format !== format || !Number.isInteger(kept.version)) return createEmptyManifest();
    const files = new Map(kept.files.map(([path, entry]) => [path, { base: kept.version, ...entry }]));
    return { version: kept.version, isBehind: kept.isBehind, told: kept.told, files };
  } catch {
    return createEmptyManifest();
  }
}

export async function writeManifest(file: string, { version, isBehind, told, files }: Manifest): Promise<void> {
  // Almost all of them are of the one version.
  const kept = [...files].map(([path, { base, ...entry }]) => [path, base === version ? entry : { base, ...entry }]);
  await writeFileAtomicUnsynced(file, JSON.stringify({ format, version, isBehind, told, files: kept }));
}

function createEmptyManifest(): Manifest {
  return { version: 0, isBehind: false, files: new Map(), told: [] };
}

import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FileState } from "../../folder/file-state.ts";
import { writeFileAtomic } from "../../home/files.ts";

/** The last common state of both sides. */
export interface SyncState {
  /** Identity of the folder; a recreated folder has no common state. */
  folder: string;
  /** Identity of the workspace; a recreated agent with the same name has not deleted anything. */
  workspace: string;
  /** Version of the workspace; a lower one means that it was restored from a backup. */
  version: number;
  /** The hash of each file, and the state of the local file that has it. */
  files: Map<string, { hash: string; state?: FileState }>;
}

const format = 2;

/**
 * Returns the path of the state file; it is in the data folder so that the synced folder contains only its own files.
 */
export function getStateFile(home: string, folder: string, agent: string): string {
  const name = createHash("sha256").update(`${folder}\0${agent}`).digest("hex").slice(0, 32);
  return join(home, "sync", `${name}.json`);
}

/** Returns undefined if there is no readable state. */
export async function readState(file: string): Promise<SyncState | undefined> {
  try {
    const stored = JSON.parse(await readFile(file, "utf8")) as Omit<SyncState, "files"> & {
      format: number;
      files: [string, { hash: string; state?: FileState }][];
    };
    if (stored.format !== format) return undefined;
    const { folder, workspace, version, files } = stored;
    return { folder, workspace, version, files: new Map(files) };
  } catch {
    return undefined;
  }
}

export async function writeState(file: string, { files, ...rest }: SyncState): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFileAtomic(file, JSON.stringify({ format, ...rest, files: [...files] }));
}

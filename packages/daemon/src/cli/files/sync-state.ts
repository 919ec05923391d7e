import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FileState } from "../../folder/file-state.ts";
import { writeFileAtomic } from "../../home/files.ts";

/** What both sides had in common when they were last compared. */
export interface SyncState {
  /** Which folder it was: one that was made anew has nothing in common with anything. */
  folder: string;
  /** Which workspace: an agent that was made anew under the same name has deleted nothing. */
  workspace: string;
  /** Its version; one that has fewer was set back to an earlier time. */
  version: number;
  /** The hash of each file, and what tells that the one in the folder is still that. */
  files: Map<string, { hash: string; state?: FileState }>;
}

const format = 2;

/** Where it is kept: not in the folder, which is to hold nothing but its files. */
export function getStateFile(home: string, folder: string, agent: string): string {
  const name = createHash("sha256").update(`${folder}\0${agent}`).digest("hex").slice(0, 32);
  return join(home, "sync", `${name}.json`);
}

/** Nothing where they have never been compared, as far as we know. */
export async function readState(file: string): Promise<SyncState | undefined> {
  try {
    const kept = JSON.parse(await readFile(file, "utf8")) as Omit<SyncState, "files"> & {
      format: number;
      files: [string, { hash: string; state?: FileState }][];
    };
    if (kept.format !== format) return undefined;
    const { folder, workspace, version, files } = kept;
    return { folder, workspace, version, files: new Map(files) };
  } catch {
    return undefined;
  }
}

export async function writeState(file: string, { files, ...rest }: SyncState): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFileAtomic(file, JSON.stringify({ format, ...rest, files: [...files] }));
}

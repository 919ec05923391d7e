import { randomBytes } from "node:crypto";
import {
  chownSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  closeSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type FileState, isSameState, toFileState } from "./file-state.ts";
import { getErrorCode, withParentFolder, isMissing, type OpenFolder } from "./open-folder.ts";

interface WriteOptions {
  /** What we think is there: nothing, or a file in that state. */
  expected: FileState | undefined;
  /** Where the draft is written before it takes its place, on the same disk; beside the file if nothing is said. */
  drafts?: string | undefined;
  /** Whose it will be, where that is not us. */
  owner?: number | undefined;
  /** It has reached the disk before it takes its place: after a power cut it is not found empty. */
  isDurable?: boolean;
}

/** It was done, something else was there than we thought, or it cannot be done. */
export type WriteResult = { state: FileState } | "changed" | { refused: string };
export type RemoveResult = "removed" | "changed" | { refused: string };

/** Puts a file into a folder in one step, in place of what we know to be there. */
export function writeContent(
  root: string,
  path: string,
  content: Uint8Array,
  { expected, drafts, owner, isDurable }: WriteOptions,
): WriteResult {
  return attempt(() => {
    const make = (folder: string) => owner !== undefined && chownSync(folder, owner, owner);
    return withParentFolder(
      root,
      path,
      (chain, names) => {
        const folder = chain.at(-1) as OpenFolder;
        const target = folder.resolve(names.at(-1) as string);
        const found = lstatSync(target, { throwIfNoEntry: false });
        if (found && !found.isFile())
          return {
            refused: found.isDirectory() ? "there is a folder of that name" : "there is something else of that name",
          };
        if (!isSameState(found && toFileState(found), expected)) return "changed";
        const draft = drafts === undefined ? folder.resolve(createDraftName()) : join(drafts, createDraftName());
        try {
          writeDraft(draft, content, found, { owner, isDurable });
          return publish(draft, target, expected);
        } finally {
          rmSync(draft, { force: true });
        }
      },
      { make },
    );
  });
}

/** Removes a file that we know, and the folders that are empty without it. */
export function removeContent(root: string, path: string, expected: FileState): RemoveResult {
  return attempt(() =>
    withParentFolder(root, path, (chain, names) => {
      const target = (chain.at(-1) as OpenFolder).resolve(names.at(-1) as string);
      const found = lstatSync(target, { throwIfNoEntry: false });
      if (found && (!found.isFile() || !isSameState(toFileState(found), expected))) return "changed";
      if (found) unlinkSync(target);
      removeEmptyFolders(chain, names);
      return "removed";
    }),
  );
}

/** A draft that is older is nobody's any more. */
const maxDraftAgeMs = 60 * 60 * 1000;

/** Removes a draft whose writer was killed. */
export function removeDraft(root: string, path: string): void {
  attempt(() =>
    withParentFolder(root, path, (chain, names) => {
      const draft = (chain.at(-1) as OpenFolder).resolve(names.at(-1) as string);
      const found = lstatSync(draft, { throwIfNoEntry: false });
      if (found?.isFile() && Date.now() - found.mtimeMs > maxDraftAgeMs) unlinkSync(draft);
      return "removed";
    }),
  );
}

const draftPattern = /^\.thinkery-[0-9a-f]{12}\.draft$/;

/** Is it one of ours that was not finished? */
export function isDraft(name: string): boolean {
  return draftPattern.test(name);
}

function createDraftName(): string {
  return `.thinkery-${randomBytes(6).toString("hex")}.draft`;
}

function writeDraft(
  draft: string,
  content: Uint8Array,
  replaced: Stats | undefined,
  { owner, isDurable }: Pick<WriteOptions, "owner" | "isDurable">,
): void {
  // A workspace keeps no modes. What begins with “#!” is there to be run, as it can be in the agent's own shell.
  const isScript = content[0] === 0x23 && content[1] === 0x21;
  const descriptor = openSync(draft, "wx", isScript ? 0o777 : 0o666);
  try {
    for (let at = 0; at < content.length;) at += writeSync(descriptor, content, at);
    if (owner !== undefined) fchownSync(descriptor, owner, owner);
    // What could be run before can be run after; who runs it has not become somebody else.
    if (replaced) fchmodSync(descriptor, (replaced.mode & 0o777) | 0o600);
    if (isDurable) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function publish(draft: string, target: string, expected: FileState | undefined): WriteResult {
  if (expected || !tryLink(draft, target)) {
    const found = lstatSync(target, { throwIfNoEntry: false });
    if (!isSameState(found && toFileState(found), expected)) return "changed";
    renameSync(draft, target);
  } else unlinkSync(draft);
  return { state: toFileState(lstatSync(target)) };
}

/** False where the disk knows no second names. One that somebody made meanwhile is never replaced this way. */
function tryLink(draft: string, target: string): boolean {
  try {
    linkSync(draft, target);
    return true;
  } catch (error) {
    if (getErrorCode(error) === "EEXIST") throw error;
    return false;
  }
}

function removeEmptyFolders(chain: OpenFolder[], names: string[]): void {
  for (let depth = chain.length - 2; depth >= 0; depth--) {
    try {
      rmdirSync((chain[depth] as OpenFolder).resolve(names[depth] as string));
    } catch {
      return;
    }
  }
}

const refusalByCode: Record<string, string> = {
  EACCES: "it may not be written there",
  EPERM: "it may not be written there",
  EROFS: "the disk can only be read",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
  ENAMETOOLONG: "its name is too long for this disk",
};

function attempt<T>(work: () => T): T | "changed" | { refused: string } {
  try {
    return work();
  } catch (error) {
    const code = getErrorCode(error) ?? "";
    if (code === "EEXIST") return "changed";
    if (isMissing(error)) return { refused: "a folder on its way is none" };
    const refused = refusalByCode[code];
    if (refused) return { refused };
    throw error;
  }
}

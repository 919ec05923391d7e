import { randomBytes } from "node:crypto";
import {
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  closeSync,
  openSync,
  renameSync,
  rmdirSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type FileState, isSameState, toFileState } from "./file-state.ts";
import { getErrorCode, withParentFolder, isMissing, type OpenFolder } from "./open-folder.ts";

interface WriteOptions {
  /** The state the file is expected to have; undefined if it should not exist. */
  expected: FileState | undefined;
  /** Folder for the draft, on the same file system. Default: the file's own folder. */
  drafts?: string | undefined;
  /** User id of the file's owner, if it is not ours. */
  owner?: number | undefined;
  /** Flush the draft to disk before it replaces the file, so that a power failure cannot leave an empty file. */
  isDurable?: boolean;
}

/** The new state; "changed" if the file was not as expected; or why it is not possible. */
export type WriteResult = { state: FileState } | "changed" | { refused: string };
export type RemoveResult = "removed" | "changed" | { refused: string };

/** Writes a file atomically, if the existing one is as expected. */
export function writeContent(
  root: string,
  path: string,
  content: Uint8Array,
  { expected, drafts, owner, isDurable }: WriteOptions,
): WriteResult {
  return attempt(() => {
    const onCreate = (folder: OpenFolder) => owner !== undefined && folder.setOwner(owner);
    return withParentFolder(
      root,
      path,
      (chain, names) => {
        const folder = chain.at(-1) as OpenFolder;
        const target = folder.resolve(names.at(-1) as string);
        const found = lstatSync(target, { throwIfNoEntry: false });
        if (found && !found.isFile())
          return {
            refused: found.isDirectory()
              ? "there is a folder with that name"
              : "there is something other than a file with that name",
          };
        if (!isSameState(found && toFileState(found), expected)) return "changed";
        const draft = drafts === undefined ? folder.resolve(createDraftName()) : join(drafts, createDraftName());
        try {
          writeDraft(draft, content, found, { owner, isDurable });
          return publish(draft, target, expected);
        } finally {
          unlinkIfExists(draft);
        }
      },
      { onCreate },
    );
  });
}

/** Removes a file if it is as expected, and the folders that become empty. */
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

/** An older draft was abandoned by its writer. */
const maxDraftAgeMs = 60 * 60 * 1000;

/** Removes an abandoned draft. */
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

/** Tells whether a file is one of our drafts. */
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
  // A workspace does not store file modes. Files that start with “#!” are executable, as in the agent's own shell.
  const isScript = content[0] === 0x23 && content[1] === 0x21;
  const descriptor = openSync(draft, "wx", isScript ? 0o777 : 0o666);
  try {
    for (let at = 0; at < content.length;) at += writeSync(descriptor, content, at);
    if (owner !== undefined) fchownSync(descriptor, owner, owner);
    // Keep the permissions, but not the setuid and setgid bits.
    if (replaced) fchmodSync(descriptor, (replaced.mode & 0o777) | 0o600);
    if (isDurable) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function unlinkIfExists(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (getErrorCode(error) !== "ENOENT") throw error;
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

/**
 * Returns false if the file system has no hard links. Unlike a rename, a link never replaces a file created meanwhile.
 */
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

const reasonByCode: Record<string, string> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
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
    if (isMissing(error)) return { refused: "a parent of it is not a folder" };
    const refused = reasonByCode[code];
    if (refused) return { refused };
    throw error;
  }
}

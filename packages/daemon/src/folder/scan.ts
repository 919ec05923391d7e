import { lstatSync, opendirSync, type Dirent } from "node:fs";
import { fail, listParentFolders, pathLimits, findPathIssue } from "@thinkery/sdk";
import { type FileState, toFileState } from "./file-state.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { getErrorCode, isMissing, OpenFolder } from "./open-folder.ts";
import { readSmall } from "./read.ts";
import { isDraft } from "./write.ts";
import { createYielder } from "./yielder.ts";

/** An entry of the folder that cannot be a file of a workspace. */
export interface SkippedFile {
  path: string;
  reason: string;
}

interface ScanOptions {
  /** Files that are included even if a `.gitignore` matches them, as git does with tracked files. */
  known?: ReadonlySet<string> | undefined;
  /** Excludes further paths, unless they are known. */
  isExcluded?(path: string): boolean;
  /** Throws if the folder has more entries; it is probably the wrong one. */
  maxEntries?: number;
}

/** The contents of a folder. */
export interface FolderScan {
  /** When the scan started. */
  at: number;
  files: Map<string, FileState>;
  skipped: SkippedFile[];
  /** Drafts that we started to write and did not finish. */
  drafts: string[];
  /** The folders that were scanned; the root is an empty path. */
  folders: string[];
  /** Tells whether a file may exist at the path without being listed: it or its folder is a link or cannot be read. */
  isHidden(path: string): boolean;
  /** Tells whether a file at the path would be ignored. */
  ignores(path: string): boolean;
}

const defaultMaxEntries = 100_000;
const alwaysIgnored = new Set([".git", "git~1", "node_modules"]);
const maxIgnoreFileBytes = 64 * 1024;

/** Lists all regular files of a folder, without following links and except those that `.gitignore` files exclude. */
export async function scanFolder(
  root: string,
  { known, isExcluded = () => false, maxEntries = defaultMaxEntries }: ScanOptions = {},
): Promise<FolderScan> {
  const files = new Map<string, FileState>();
  const skipped: SkippedFile[] = [];
  const drafts: string[] = [];
  const hidden = new Set<string>();
  const folders: string[] = [];
  const rules = new Map<string, IgnoreRules>();
  const at = Date.now();
  const yieldTurn = createYielder();
  let knownFolders: Set<string> | undefined;
  let entries = 0;

  const skip = (path: string, reason: string) => {
    skipped.push({ path, reason });
    hidden.add(path);
    // Some file systems return names in a different Unicode form.
    hidden.add(path.normalize("NFC"));
  };

  const isKnownFolder = (path: string) => {
    if (!known) return false;
    knownFolders ??= new Set([...known].flatMap(listParentFolders));
    return knownFolders.has(path);
  };

  async function visit(folder: OpenFolder, path: string, isParentIgnored: boolean): Promise<void> {
    folders.push(path);
    const text = readSmall(folder, ".gitignore", maxIgnoreFileBytes);
    if (text === "too long") {
      // The files it would exclude may be secret.
      skipped.push({
        path: path === "" ? ".gitignore" : `${path}/.gitignore`,
        reason: `it is larger than ${maxIgnoreFileBytes / 1024} KB, so its folder is skipped`,
      });
      hidden.add(path);
      return;
    }
    if (text) rules.set(path, new IgnoreRules(text.toString("utf8")));
    const list = opendirSync(folder.path, { encoding: "buffer" as BufferEncoding, bufferSize: 256 });
    try {
      for (let entry = list.readSync(); entry; entry = list.readSync()) {
        if (++entries > maxEntries) throw fail("too_large", `The folder contains more than ${maxEntries} files.`);
        await yieldTurn();
        await visitEntry(folder, path, entry, isParentIgnored);
      }
    } finally {
      list.closeSync();
    }
  }

  async function visitEntry(
    folder: OpenFolder,
    parent: string,
    entry: Dirent,
    isParentIgnored: boolean,
  ): Promise<void> {
    const bytes = entry.name as unknown as Buffer;
    const name = bytes.toString("utf8");
    const path = parent === "" ? name : `${parent}/${name}`;
    if (isDraft(name)) return void drafts.push(path);
    const isIgnored = isParentIgnored || isExcluded(path) || isIgnoredBy(rules, path, entry.isDirectory());
    if (isIgnored && !(entry.isDirectory() ? isKnownFolder(path) : known?.has(path))) return;
    if (!Buffer.from(name).equals(bytes)) return skip(path, "its name is not valid UTF-8");
    const issue =
      findPathIssue(path) ??
      (path.normalize("NFC") === path ? undefined : "its name is not in Unicode normalization form C");
    if (issue) return skip(path, issue);
    const found = lstatSync(folder.resolve(name), { throwIfNoEntry: false });
    if (!found) return;
    if (found.isDirectory()) return enter(folder, name, path, isIgnored);
    if (found.isFile()) files.set(path, toFileState(found));
    else skip(path, found.isSymbolicLink() ? "it is a symbolic link" : "it is not a regular file");
  }

  async function enter(folder: OpenFolder, name: string, path: string, isIgnored: boolean): Promise<void> {
    if (path.split("/").length >= pathLimits.depth)
      return skip(path, `it is more than ${pathLimits.depth - 1} folders deep`);
    let inner: OpenFolder;
    try {
      inner = folder.enter(name);
    } catch (error) {
      if (getErrorCode(error) === "ENOENT") return;
      return skip(path, isMissing(error) ? "it is no longer a folder" : "it cannot be read");
    }
    try {
      await visit(inner, path, isIgnored);
    } finally {
      inner.close();
    }
  }

  const folder = OpenFolder.open(root);
  try {
    await visit(folder, "", false);
  } finally {
    folder.close();
  }
  return {
    at,
    files,
    skipped,
    drafts,
    folders,
    isHidden: (path) => hidden.size > 0 && ["", path, ...listParentFolders(path)].some((parent) => hidden.has(parent)),
    ignores: (path) =>
      listParentFolders(path).some((folder) => isIgnoredBy(rules, folder, true)) || isIgnoredBy(rules, path, false),
  };
}

/**
 * Ignores case and invisible characters: on some file systems “.GIT” is the folder whose hooks git runs, and some drop
 * invisible characters. Files of a workspace must never be written there.
 */
function isAlwaysIgnored(name: string): boolean {
  return alwaysIgnored.has(name.replace(/\p{Cf}/gu, "").toLowerCase());
}

/** The innermost `.gitignore` with a matching rule decides. */
function isIgnoredBy(rules: ReadonlyMap<string, IgnoreRules>, path: string, isFolder: boolean): boolean {
  const slash = path.lastIndexOf("/");
  const name = path.slice(slash + 1);
  if (isAlwaysIgnored(name) || isDraft(name)) return true;
  for (let end = slash; ; end = path.lastIndexOf("/", end - 1)) {
    const folder = end < 0 ? "" : path.slice(0, end);
    const verdict = rules.get(folder)?.evaluate(end < 0 ? path : path.slice(end + 1), isFolder);
    if (verdict !== undefined) return verdict;
    if (end < 0) return false;
  }
}

import { lstatSync, opendirSync, type Dirent } from "node:fs";
import { fail, listParentFolders, pathLimits, findPathIssue } from "@thinkery/sdk";
import { type FileState, toFileState } from "./file-state.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { getErrorCode, isMissing, OpenFolder } from "./open-folder.ts";
import { readSmall } from "./read.ts";
import { isDraft } from "./write.ts";
import { createYielder } from "./yielder.ts";

/** Something that lies in the folder and cannot be taken for a file of a workspace. */
export interface SkippedFile {
  path: string;
  why: string;
}

interface ScanOptions {
  /** Files that are looked at even where a `.gitignore` names them, as git does with those it has already. */
  known?: ReadonlySet<string> | undefined;
  /** What else is left out, unless it is known. */
  isExcluded?(path: string): boolean;
  /** Whoever has more than this in a folder meant another one. */
  maxEntries?: number;
}

/** What is in a folder. */
export interface FolderScan {
  /** When it began. */
  at: number;
  files: Map<string, FileState>;
  untaken: SkippedFile[];
  /** What we began to write and did not finish. */
  drafts: string[];
  /** The folders that were looked into, the first one as an empty path. */
  folders: string[];
  /** A file of that path may be there and we cannot tell: it is a link, or its folder is one, or may not be read. */
  isHidden(path: string): boolean;
  /** A file of that path would not be looked at. */
  ignores(path: string): boolean;
}

const defaultMaxEntries = 100_000;
const alwaysIgnored = new Set([".git", "git~1", "node_modules"]);
const maxIgnoreFileBytes = 64 * 1024;

/** Looks at all regular files of a folder, never through a link, and leaves out what `.gitignore` files say. */
export async function scanFolder(
  root: string,
  { known, isExcluded = () => false, maxEntries = defaultMaxEntries }: ScanOptions = {},
): Promise<FolderScan> {
  const files = new Map<string, FileState>();
  const untaken: SkippedFile[] = [];
  const drafts: string[] = [];
  const hidden = new Set<string>();
  const folders: string[] = [];
  const rules = new Map<string, IgnoreRules>();
  const at = Date.now();
  const yieldTurn = createYielder();
  let knownFolders: Set<string> | undefined;
  let entries = 0;

  const skip = (path: string, why: string) => {
    untaken.push({ path, why });
    hidden.add(path);
    // Some disks give names back in another form than they were given.
    hidden.add(path.normalize("NFC"));
  };

  const isKnownFolder = (path: string) => {
    if (!known) return false;
    knownFolders ??= new Set([...known].flatMap(listParentFolders));
    return knownFolders.has(path);
  };

  async function visit(folder: OpenFolder, path: string, isWithinIgnored: boolean): Promise<void> {
    folders.push(path);
    const text = readSmall(folder, ".gitignore", maxIgnoreFileBytes);
    if (text === "too long") {
      // What it keeps out may be a secret.
      untaken.push({
        path: path === "" ? ".gitignore" : `${path}/.gitignore`,
        why: `it is longer than ${maxIgnoreFileBytes / 1024} KB, so all of its folder is left alone`,
      });
      hidden.add(path);
      return;
    }
    if (text) rules.set(path, new IgnoreRules(text.toString("utf8")));
    const list = opendirSync(folder.path, { encoding: "buffer" as BufferEncoding, bufferSize: 256 });
    try {
      for (let entry = list.readSync(); entry; entry = list.readSync()) {
        if (++entries > maxEntries) throw fail("too_large", `There are more than ${maxEntries} files in the folder.`);
        await yieldTurn();
        await visitEntry(folder, path, entry, isWithinIgnored);
      }
    } finally {
      list.closeSync();
    }
  }

  async function visitEntry(
    folder: OpenFolder,
    within: string,
    entry: Dirent,
    isWithinIgnored: boolean,
  ): Promise<void> {
    const bytes = entry.name as unknown as Buffer;
    const name = bytes.toString("utf8");
    const path = within === "" ? name : `${within}/${name}`;
    if (isDraft(name)) return void drafts.push(path);
    const isIgnored = isWithinIgnored || isExcluded(path) || isIgnoredBy(rules, path, entry.isDirectory());
    if (isIgnored && !(entry.isDirectory() ? isKnownFolder(path) : known?.has(path))) return;
    if (!Buffer.from(name).equals(bytes)) return skip(path, "its name is not valid UTF-8");
    const problem =
      findPathIssue(path) ??
      (path.normalize("NFC") === path ? undefined : "its name is spelled in another form of Unicode than NFC");
    if (problem) return skip(path, problem);
    const found = lstatSync(folder.resolve(name), { throwIfNoEntry: false });
    if (!found) return;
    if (found.isDirectory()) return enter(folder, name, path, isIgnored);
    if (found.isFile()) files.set(path, toFileState(found));
    else skip(path, found.isSymbolicLink() ? "it is a link" : "it is no regular file");
  }

  async function enter(folder: OpenFolder, name: string, path: string, isIgnored: boolean): Promise<void> {
    if (path.split("/").length >= pathLimits.depth)
      return skip(path, `it is more than ${pathLimits.depth - 1} folders deep`);
    let inner: OpenFolder;
    try {
      inner = folder.enter(name);
    } catch (error) {
      if (getErrorCode(error) === "ENOENT") return;
      return skip(path, isMissing(error) ? "it is no folder any more" : "it cannot be read");
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
    untaken,
    drafts,
    folders,
    isHidden: (path) => hidden.size > 0 && ["", path, ...listParentFolders(path)].some((one) => hidden.has(one)),
    ignores: (path) =>
      listParentFolders(path).some((folder) => isIgnoredBy(rules, folder, true)) || isIgnoredBy(rules, path, false),
  };
}

/**
 * However it is written: to some disks “.GIT” is the folder whose hooks git runs, and some leave out what cannot be seen.
 * What comes from a workspace must not get there.
 */
function isAlwaysIgnored(name: string): boolean {
  return alwaysIgnored.has(name.replace(/\p{Cf}/gu, "").toLowerCase());
}

/** The innermost `.gitignore` that has something to say decides. */
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

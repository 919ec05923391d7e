import { fail, type FileContent, type FileEdit, parseFilePath, foldPathCase, isThinkeryError } from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import type { Work } from "../host/fair-work.ts";
import { countTextUnits, isSameContent, toContentWithInfo } from "./content.ts";
import type { FileRows, Totals } from "./file-rows.ts";
import { checkQuota } from "./quota.ts";
import { Step } from "./step.ts";

/** Enough to move a full workspace once. */
const maxFolderOperations = 30_000;

/** Units of work for one file. */
const units = { touch: 5, move: 60, compare: 40, place: 60 };

/** The files of a branch with pending edits on top. */
export class Batch {
  readonly #rows: FileRows;
  readonly branch: string;
  /** The pending content of each touched path; undefined if it would be deleted. */
  readonly #touched = new Map<string, FileContent | undefined>();
  /** Original paths of moved files, by new path. */
  readonly #moves = new Map<string, string>();
  /** Touched paths that would exist, by case-folded path. */
  readonly #folded = new Map<string, string[]>();
  #folderOperations = 0;

  constructor(rows: FileRows, branch: string) {
    this.#rows = rows;
    this.branch = branch;
  }

  getContent(path: string): FileContent | undefined {
    return this.#touched.has(path) ? this.#touched.get(path) : this.#rows.getContent(this.branch, path);
  }

  /** Whether the file would exist. Does not read its content. */
  has(path: string): boolean {
    return this.#touched.has(path) ? this.#touched.get(path) !== undefined : this.#isStored(path);
  }

  /** Whether a new file could be created at this path. */
  isFree(path: string): boolean {
    return !this.has(path) && this.#explainMisplacement(path, new Map()) === undefined;
  }

  *add(edit: FileEdit): Work<void> {
    if ("write" in edit) this.write(parseFilePath(edit.write), edit.content);
    else if ("delete" in edit) yield* this.#delete(parseFilePath(edit.delete));
    else yield* this.#move(parseFilePath(edit.move), parseFilePath(edit.to));
    yield units.touch;
  }

  write(path: string, content: FileContent): void {
    if (typeof content === "string" && (content.includes("\0") || !content.isWellFormed()))
      throw fail("bad_request", `The content for “${path}” is not valid text.`);
    this.#touch(path, content);
  }

  remove(path: string): void {
    this.#touch(path, undefined);
    this.#moves.delete(path);
  }

  /** Notes that a file was moved, if its old path is gone. */
  recordMove(from: string, to: string): void {
    if (this.#touched.get(to) !== undefined && !this.has(from)) this.#moves.set(to, from);
  }

  /** Lists the changes to the stored files. */
  *listChanges(): Work<Step[]> {
    const steps: Step[] = [];
    for (const [path, after] of this.#touched) {
      yield units.compare + countTextUnits(after);
      const stored = this.#rows.getContentWithInfo(this.branch, path);
      const before = stored?.content;
      if (isSameContent(before, after)) continue;
      const from = this.#moves.get(path);
      const isMoved =
        from !== undefined &&
        before === undefined &&
        isSameContent(after, this.#rows.getContent(this.branch, from)) &&
        !this.has(from);
      steps.push(
        new Step({
          path,
          kind: isMoved ? "move" : getChangeKind(before, after),
          other: isMoved ? from : undefined,
          before: stored,
          patchCount: stored?.patchCount,
          after: after === undefined ? undefined : toContentWithInfo(after, path),
        }),
      );
    }
    return markMoved(steps.sort((a, b) => (a.path < b.path ? -1 : 1)));
  }

  /** Drops files that cannot exist at their path; returns them with the reasons. */
  *dropInvalid(): Work<{ path: string; reason: string }[]> {
    const dropped: { path: string; reason: string }[] = [];
    for (let settled = false; !settled;) {
      settled = true;
      const folders = new Map<string, string>();
      for (const path of [...this.#touched.keys()].sort()) {
        yield units.place;
        const reason = this.has(path) && !this.#isStored(path) ? this.#explainMisplacement(path, folders) : undefined;
        if (reason === undefined) continue;
        dropped.push({ path, reason });
        this.#untouch(path);
        const from = this.#moves.get(path);
        if (from === undefined) continue;
        // A file moved there stays at its old path, which may conflict with files that were valid before.
        this.#untouch(from);
        this.#moves.delete(path);
        settled = false;
      }
    }
    return dropped;
  }

  /** Returns the new totals. Throws if a file could not exist on every system, or a limit would be exceeded. */
  *check(steps: readonly Step[], limits: WorkspaceLimits, totals: Totals): Work<Totals> {
    const folders = new Map<string, string>();
    for (const { path, before, after } of steps) {
      if (!after || before) continue;
      this.#checkPlace(path, folders);
      yield units.place * path.split("/").length;
    }
    return checkQuota(steps, limits, totals);
  }

  /** Returns why a file cannot exist at a path, or undefined if it can. */
  #explainMisplacement(path: string, folders: Map<string, string>): string | undefined {
    try {
      this.#checkPlace(path, folders);
      return undefined;
    } catch (error) {
      if (!isThinkeryError(error)) throw error;
      return error.message;
    }
  }

  #touch(path: string, content: FileContent | undefined): void {
    this.#touched.set(path, content);
    this.#fold(path, content !== undefined);
  }

  #untouch(path: string): void {
    this.#touched.delete(path);
    this.#fold(path, false);
  }

  #fold(path: string, exists: boolean): void {
    const key = foldPathCase(path);
    const others = this.#folded.get(key)?.filter((other) => other !== path) ?? [];
    this.#folded.set(key, exists ? [...others, path] : others);
  }

  *#delete(path: string): Work<void> {
    const paths = this.has(path) ? [path] : this.#listFolder(path);
    if (paths.length === 0) throw fail("not_found", `There is no “${path}” in the workspace.`);
    for (const file of paths) {
      this.remove(file);
      yield units.touch;
    }
  }

  *#move(from: string, to: string): Work<void> {
    if (from === to) throw fail("bad_request", `Cannot move “${from}” to itself.`);
    const isFile = this.has(from);
    const paths = isFile ? [from] : this.#listFolder(from);
    if (paths.length === 0) throw fail("not_found", `There is no “${from}” in the workspace.`);
    if (!isFile && to.startsWith(`${from}/`)) throw fail("bad_request", "A folder cannot be moved into itself.");
    for (const path of paths) {
      const target = parseFilePath(to + path.slice(from.length));
      if (this.has(target)) throw fail("conflict", `“${target}” already exists.`);
      const content = this.getContent(path) as FileContent;
      const origin = this.#moves.get(path) ?? path;
      this.remove(path);
      this.write(target, content);
      this.#moves.set(target, origin);
      yield units.move;
    }
  }

  /** A short list of moves can touch every file many times, so the work is counted and not the edits. */
  #countFolderOperations(files: number): void {
    this.#folderOperations += files;
    if (this.#folderOperations > maxFolderOperations)
      throw fail(
        "too_large",
        `Moving and deleting folders may touch at most ${maxFolderOperations} files at once. Make several commits.`,
      );
  }

  #listFolder(folder: string): string[] {
    const stored = this.#rows.list(this.branch, { under: folder }).map(({ path }) => path);
    const touched = [...this.#touched.keys()].filter((path) => path.startsWith(`${folder}/`));
    this.#countFolderOperations(stored.length + this.#touched.size);
    return [...new Set([...stored, ...touched])].filter((path) => this.has(path)).sort();
  }

  /** Throws if a folder is at the path, a file is at one of its folders, or another path differs only in case. */
  #checkPlace(path: string, folders: Map<string, string>): void {
    const caseCollision = this.#rows.findCaseCollision(this.branch, path);
    const other =
      caseCollision !== undefined && this.has(caseCollision) ? caseCollision : this.#findTouchedCaseCollision(path);
    if (other !== undefined)
      throw fail("conflict", `“${other}” already exists, and “${path}” differs from it only in case.`);
    for (const inside of this.#rows.listFolder(this.branch, path)) {
      if (this.has(inside)) throw fail("conflict", `“${path}” is a folder.`);
    }
    const names = path.split("/");
    const newFolders: string[] = [];
    for (let depth = names.length - 1; depth > 0; depth--) {
      const folder = names.slice(0, depth).join("/");
      const existing = folders.get(foldPathCase(folder)) ?? this.#findFolderSpelling(folder);
      if (existing !== undefined && existing !== folder) throw createCaseConflictError(existing, folder);
      if (folders.has(foldPathCase(folder))) break;
      newFolders.push(folder);
      for (const file of [
        folder,
        this.#rows.findCaseCollision(this.branch, folder),
        this.#findTouchedCaseCollision(folder),
      ]) {
        if (file !== undefined && this.has(file)) throw fail("conflict", `“${file}” is a file, not a folder.`);
      }
    }
    // Only now: a file that cannot exist creates no folders either.
    for (const folder of newFolders) folders.set(foldPathCase(folder), folder);
  }

  /** Returns the exact spelling of an existing folder. */
  #findFolderSpelling(folder: string): string | undefined {
    for (const path of this.#rows.listFolder(this.branch, folder)) {
      // By path segments: paths that differ only in case may differ in length.
      if (this.has(path)) return path.split("/").slice(0, folder.split("/").length).join("/");
    }
    return undefined;
  }

  #isStored(path: string): boolean {
    return this.#rows.stat(this.branch, path) !== undefined;
  }

  #findTouchedCaseCollision(path: string): string | undefined {
    return this.#folded.get(foldPathCase(path))?.find((other) => other !== path);
  }
}

function createCaseConflictError(existing: string, folder: string): Error {
  return fail("conflict", `The folder “${existing}” already exists, and “${folder}” differs from it only in case.`);
}

function getChangeKind(before: FileContent | undefined, after: FileContent | undefined): Step["kind"] {
  if (before === undefined) return "add";
  return after === undefined ? "delete" : "edit";
}

/** Lists a moved file once, at its new path; its old path gets the kind `moved`. */
function markMoved(steps: Step[]): Step[] {
  const moved = new Map(
    steps.flatMap(({ kind, path, other }) => (kind === "move" && other !== undefined ? [[other, path] as const] : [])),
  );
  return steps.map((step) => {
    const { path, kind, before, after, patchCount } = step;
    return kind === "delete" && moved.has(path)
      ? new Step({ path, kind: "moved", other: moved.get(path), before, after, patchCount })
      : step;
  });
}

import { fail, type FileContent, type FileEdit, parseFilePath, foldPathCase, isThinkeryError } from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import { isSameContent, toContentWithInfo } from "./content.ts";
import type { FileRows, Totals } from "./file-rows.ts";
import { checkQuota } from "./quota.ts";
import { Step } from "./step.ts";

/** The files of a branch with some edits on top, none of which is made yet. */
export class Batch {
  readonly #rows: FileRows;
  readonly branch: string;
  /** What each path that was touched would be; nothing for those that would be gone. */
  readonly #touched = new Map<string, FileContent | undefined>();
  /** Where what is at a path now came from. */
  readonly #moves = new Map<string, string>();
  /** The touched paths that would be there, by how they are compared. */
  #folded: Map<string, string[]> | undefined;

  constructor(rows: FileRows, branch: string) {
    this.#rows = rows;
    this.branch = branch;
  }

  getContent(path: string): FileContent | undefined {
    return this.#touched.has(path) ? this.#touched.get(path) : this.#rows.getContent(this.branch, path);
  }

  /** Would there be a file? Answered without reading it. */
  has(path: string): boolean {
    return this.#touched.has(path) ? this.#touched.get(path) !== undefined : this.#isStored(path);
  }

  /** Could there be a file that is not there yet? */
  isFree(path: string): boolean {
    return !this.has(path) && this.#explainMisplacement(path, new Map()) === undefined;
  }

  add(edit: FileEdit): void {
    if ("write" in edit) return this.write(parseFilePath(edit.write), edit.content);
    if ("delete" in edit) return this.#delete(parseFilePath(edit.delete));
    this.#move(parseFilePath(edit.move), parseFilePath(edit.to));
  }

  write(path: string, content: FileContent): void {
    if (typeof content === "string" && (content.includes("\0") || !content.isWellFormed()))
      throw fail("bad_request", `What was to be written to “${path}” is not text.`);
    this.#touch(path, content);
  }

  remove(path: string): void {
    this.#touch(path, undefined);
    this.#moves.delete(path);
  }

  /** What is at a path now is what was at another, which is gone. */
  recordMove(from: string, to: string): void {
    if (this.#touched.get(to) !== undefined && !this.has(from)) this.#moves.set(to, from);
  }

  /** What would be other than it is. */
  listChanges(): Step[] {
    const steps: Step[] = [];
    for (const [path, after] of this.#touched) {
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
          after: after === undefined ? undefined : toContentWithInfo(after, path),
        }),
      );
    }
    return markMoved(steps.sort((a, b) => (a.path < b.path ? -1 : 1)));
  }

  /** Takes out what could not be where it should be, and answers why not. */
  dropInvalid(): { path: string; reason: string }[] {
    const refused: { path: string; reason: string }[] = [];
    for (let settled = false; !settled;) {
      settled = true;
      const folders = new Map<string, string>();
      for (const path of [...this.#touched.keys()].sort()) {
        const reason = this.has(path) && !this.#isStored(path) ? this.#explainMisplacement(path, folders) : undefined;
        if (reason === undefined) continue;
        refused.push({ path, reason });
        this.#untouch(path);
        const from = this.#moves.get(path);
        if (from === undefined) continue;
        // What was moved there stays where it was, which may be in the way of what was fine until now.
        this.#untouch(from);
        this.#moves.delete(path);
        settled = false;
      }
    }
    return refused;
  }

  /** Refuses what could not be on every machine, and what would be too much. */
  check(steps: readonly Step[], limits: WorkspaceLimits, totals: Totals): Totals {
    const folders = new Map<string, string>();
    for (const { path, before, after } of steps) if (after && !before) this.#checkPlace(path, folders);
    return checkQuota(steps, limits, totals);
  }

  /** Why a file cannot be where it should be; nothing where it can. */
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
    this.#folded = undefined;
  }

  #untouch(path: string): void {
    this.#touched.delete(path);
    const key = foldPathCase(path);
    this.#folded?.set(
      key,
      (this.#folded.get(key) ?? []).filter((one) => one !== path),
    );
  }

  #delete(path: string): void {
    const all = this.has(path) ? [path] : this.#listFolder(path);
    if (all.length === 0) throw fail("not_found", `There is no “${path}” in the workspace.`);
    for (const one of all) this.remove(one);
  }

  #move(from: string, to: string): void {
    if (from === to) throw fail("bad_request", `“${from}” is there already.`);
    const isFile = this.has(from);
    const all = isFile ? [from] : this.#listFolder(from);
    if (all.length === 0) throw fail("not_found", `There is no “${from}” in the workspace.`);
    if (!isFile && to.startsWith(`${from}/`)) throw fail("bad_request", "A folder cannot be moved into itself.");
    for (const path of all) {
      const target = parseFilePath(to + path.slice(from.length));
      if (this.has(target)) throw fail("conflict", `“${target}” is there already.`);
      const content = this.getContent(path) as FileContent;
      const origin = this.#moves.get(path) ?? path;
      this.remove(path);
      this.write(target, content);
      this.#moves.set(target, origin);
    }
  }

  #listFolder(folder: string): string[] {
    const stored = this.#rows.list(this.branch, { under: folder }).map(({ path }) => path);
    const touched = [...this.#touched.keys()].filter((path) => path.startsWith(`${folder}/`));
    return [...new Set([...stored, ...touched])].filter((path) => this.has(path)).sort();
  }

  /** No file where a folder is, no folder where a file is, and nothing that differs from another by upper and lower case alone. */
  #checkPlace(path: string, folders: Map<string, string>): void {
    const caseCollision = this.#rows.findCaseCollision(this.branch, path);
    const other =
      caseCollision !== undefined && this.has(caseCollision) ? caseCollision : this.#findTouchedCaseCollision(path);
    if (other !== undefined)
      throw fail(
        "conflict",
        `“${other}” is there already, and “${path}” differs from it by upper and lower case only.`,
      );
    for (const inside of this.#rows.listFolder(this.branch, path)) {
      if (this.has(inside)) throw fail("conflict", `“${path}” is a folder.`);
    }
    const names = path.split("/");
    const found: string[] = [];
    for (let depth = names.length - 1; depth > 0; depth--) {
      const folder = names.slice(0, depth).join("/");
      const written = folders.get(foldPathCase(folder)) ?? this.#findFolderSpelling(folder);
      if (written !== undefined && written !== folder) throw createCaseConflictError(written, folder);
      if (folders.has(foldPathCase(folder))) break;
      found.push(folder);
      for (const file of [
        folder,
        this.#rows.findCaseCollision(this.branch, folder),
        this.#findTouchedCaseCollision(folder),
      ]) {
        if (file !== undefined && this.has(file)) throw fail("conflict", `“${file}” is a file, not a folder.`);
      }
    }
    // Only now: one that cannot be there makes no folders either.
    for (const folder of found) folders.set(foldPathCase(folder), folder);
  }

  /** How the name of a folder that is there already is written. */
  #findFolderSpelling(folder: string): string | undefined {
    for (const path of this.#rows.listFolder(this.branch, folder)) {
      // By names: what is the same but for case may be longer or shorter.
      if (this.has(path)) return path.split("/").slice(0, folder.split("/").length).join("/");
    }
    return undefined;
  }

  #isStored(path: string): boolean {
    return this.#rows.stat(this.branch, path) !== undefined;
  }

  #findTouchedCaseCollision(path: string): string | undefined {
    this.#folded ??= Map.groupBy(
      [...this.#touched.keys()].filter((one) => this.#touched.get(one) !== undefined),
      foldPathCase,
    );
    return this.#folded.get(foldPathCase(path))?.find((one) => one !== path);
  }
}

function createCaseConflictError(known: string, folder: string): Error {
  return fail(
    "conflict",
    `The folder “${known}” is there already, and “${folder}” differs from it by upper and lower case only.`,
  );
}

function getChangeKind(before: FileContent | undefined, after: FileContent | undefined): Step["kind"] {
  if (before === undefined) return "add";
  return after === undefined ? "delete" : "edit";
}

/** A file that was moved is told of once, at its new place; its old place is the other half of that. */
function markMoved(steps: Step[]): Step[] {
  const moved = new Map(
    steps.flatMap(({ kind, path, other }) => (kind === "move" && other !== undefined ? [[other, path] as const] : [])),
  );
  return steps.map((step) => {
    const { path, kind, before, after } = step;
    return kind === "delete" && moved.has(path)
      ? new Step({ path, kind: "moved", other: moved.get(path), before, after })
      : step;
  });
}

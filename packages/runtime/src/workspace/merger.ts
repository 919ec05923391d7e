import {
  type CommitResult,
  fail,
  type FileContent,
  type FileEdit,
  parseFilePath,
  type Merge,
  type MergeResponse,
  type Origin,
  type Overlap,
  type Revert,
} from "@thinkery/sdk";
import { Batch } from "./batch.ts";
import type { Branches } from "./branches.ts";
import type { CommitOptions, Commits } from "./commits.ts";
import { isSameContent } from "./content.ts";
import type { FileRows } from "./file-rows.ts";
import type { HistoryReader } from "./history-reader.ts";
import type { History } from "./history.ts";
import { findConflictPath, type MergeOptions, mergeThreeWay, type ThreeWayMerge } from "./three-way-merge.ts";

interface MergerOptions {
  rows: FileRows;
  history: History;
  branches: Branches;
  past: HistoryReader;
  commits: Commits;
}

/** How the other side of a merge is called, also where a file of its is put beside ours. */
type MergeSide = Omit<MergeOptions, "findConflictPath"> & { word: string };

/** `from` is where a file was that is moved. */
type DesiredFile = Pick<ThreeWayMerge, "path" | "base" | "theirs"> & { from?: string | undefined };

export interface RebaseOptions extends Pick<CommitOptions, "record" | "key" | "seen"> {
  /** Is what could not be where it should be left out, and the rest taken? */
  dropInvalid?: boolean;
}

/** Changes that were made on other files than there are now: of a shell, of an earlier version, of another branch. */
export class Merger {
  readonly #options: MergerOptions;

  constructor(options: MergerOptions) {
    this.#options = options;
  }

  rebaseEdits(
    edits: readonly FileEdit[],
    base: number,
    origin: Origin,
    branch: string,
    { dropInvalid, ...options }: RebaseOptions,
  ): CommitResult {
    const { past, rows } = this.#options;
    const batch = new Batch(rows, branch);
    const isAsThen = past.listChangedSince(branch, base)?.length === 0;
    const overlaps = isAsThen ? [] : this.#rebase(batch, edits, base, origin, branch);
    if (isAsThen) for (const edit of edits) batch.add(edit);
    if (dropInvalid)
      overlaps.push(...batch.dropInvalid().map(({ path, reason }) => ({ path, reason: `It was not kept. ${reason}` })));
    return { ...this.#options.commits.write(batch, origin, { branch, ...options }), overlaps };
  }

  #rebase(batch: Batch, edits: readonly FileEdit[], base: number, origin: Origin, branch: string): Overlap[] {
    const other = origin.tool ?? origin.user ?? "this change";
    const mergeOptions = this.#createMergeOptions(batch, {
      names: { mine: "others meanwhile", theirs: other },
      restoresDeleted: true,
      word: other,
    });
    return this.#applyAll(batch, this.#listDesired(edits, branch, base), mergeOptions, base);
  }

  revert(
    ids: readonly number[],
    branch: string,
    origin: Origin,
    options: Pick<CommitOptions, "record"> & { dryRun?: Revert["dryRun"] },
  ): MergeResponse {
    const { rows, history } = this.#options;
    const { dryRun, ...rest } = options;
    const batch = new Batch(rows, branch);
    const overlaps: Overlap[] = [];
    // The latest is taken back first: what an earlier one wrote is under what came later.
    for (const id of [...ids].sort((a, b) => b - a)) {
      const mergeOptions = this.#createMergeOptions(batch, {
        names: { mine: "later changes", theirs: `before version ${id}` },
        restoresDeleted: false,
        word: `before-${id}`,
      });
      const wanted = history.listChanges(id).map((row): DesiredFile => {
        const now = () => rows.getContent(row.branch, row.path);
        return {
          path: row.path,
          base: history.getContentAfter(row, now),
          theirs: history.getContentBefore(row, now),
          from: (row.kind === "moved" && row.other) || undefined,
        };
      });
      overlaps.push(...this.#applyAll(batch, wanted, mergeOptions, id));
    }
    return this.#finish(batch, overlaps, origin, { branch, reverts: ids, ...rest }, dryRun);
  }

  merge(
    source: string,
    target: string,
    origin: Origin,
    options: Pick<CommitOptions, "record"> & { dryRun?: Merge["dryRun"] },
  ): MergeResponse {
    const { rows, history, branches, past } = this.#options;
    const { dryRun, ...rest } = options;
    const link = [branches.get(source), branches.get(target)].find(
      (row) => row && (row.parent === source || row.parent === target),
    );
    if (source === target || !link) throw fail("conflict", `“${source}” and “${target}” do not come from one another.`);
    const { base_branch: baseBranch, base_version: baseVersion } = link;
    const batch = new Batch(rows, target);
    const mergeOptions = this.#createMergeOptions(batch, {
      names: { mine: target, theirs: source },
      restoresDeleted: true,
      word: source,
    });
    const wanted = [...past.listDiffering(source, baseBranch, baseVersion)].sort().map((path): DesiredFile => ({
      path,
      base: past.getContent(baseBranch, path, baseVersion),
      theirs: rows.getContent(source, path),
    }));
    const since = (branch: string) => (baseBranch === branch ? baseVersion : link.at);
    // By where they are now: what is gone from one place may have come to another.
    const moves = new Map(
      wanted.flatMap(({ path, theirs }) =>
        theirs === undefined ? [[history.resolveMove(source, path, since(source)), path]] : [],
      ),
    );
    const overlaps = this.#applyAll(
      batch,
      wanted.map((one) => ({ ...one, from: moves.get(one.path) })),
      mergeOptions,
      since(target),
    );
    const runInTransaction = () => branches.recordMerge(link.name, source, history.lastVersion, Date.now());
    return this.#finish(batch, overlaps, origin, { branch: target, merges: source, runInTransaction, ...rest }, dryRun);
  }

  /** What edits, made one after the other, want of each file, with what it began from. What was not there then is not missed. */
  #listDesired(edits: readonly FileEdit[], branch: string, version: number): DesiredFile[] {
    const { past } = this.#options;
    const then = (path: string) => past.getContent(branch, path, version);
    const theirs = new Map<string, FileContent | undefined>();
    const moves = new Map<string, string>();
    const at = (path: string) => (theirs.has(path) ? theirs.get(path) : then(path));
    const within = (place: string) => {
      if (at(place) !== undefined) return [place];
      const touched = [...theirs.keys()].filter((path) => path.startsWith(`${place}/`));
      return [...new Set([...past.list(branch, version, { under: place }).map(({ path }) => path), ...touched])].filter(
        (path) => at(path) !== undefined,
      );
    };
    for (const edit of edits) {
      if ("write" in edit) {
        theirs.set(parseFilePath(edit.write), edit.content);
        continue;
      }
      const from = parseFilePath("delete" in edit ? edit.delete : edit.move);
      for (const path of within(from)) {
        const content = at(path);
        theirs.set(path, undefined);
        if ("delete" in edit) continue;
        const to = parseFilePath(parseFilePath(edit.to) + path.slice(from.length));
        theirs.set(to, content);
        moves.set(to, moves.get(path) ?? path);
      }
    }
    // What is gone makes room first.
    const gone = ({ theirs: content }: DesiredFile) => Number(content !== undefined);
    return [...theirs]
      .map(([path, content]): DesiredFile => ({ path, base: then(path), theirs: content, from: moves.get(path) }))
      .sort((one, other) => gone(one) - gone(other));
  }

  /** Brings all of it to a batch. What was done to a file since a version goes along with it, whichever of the two has moved it. */
  #applyAll(batch: Batch, all: readonly DesiredFile[], manner: MergeOptions, since: number): Overlap[] {
    const { history } = this.#options;
    const wanted = new Map(all.map((one) => [one.path, one]));
    const bases = new Map(all.map(({ path, base }) => [path, base]));
    const overlaps: Overlap[] = [];
    for (const { path, theirs, from } of all) {
      const gone = from === undefined ? undefined : wanted.get(from);
      if (
        !gone ||
        from === path ||
        batch.has(path) ||
        !batch.has(gone.path) ||
        isSameContent(batch.getContent(gone.path), gone.base)
      )
        continue;
      const result = mergeThreeWay({ path, base: gone.base, mine: batch.getContent(gone.path), theirs }, manner);
      if (result.conflictCopy) continue;
      batch.write(path, (result.becomes?.content ?? batch.getContent(gone.path)) as FileContent);
      batch.remove(gone.path);
      batch.recordMove(gone.path, path);
      overlaps.push(...result.overlaps);
      wanted.delete(path);
      wanted.delete(gone.path);
    }
    const movedTo = (path: string) => history.resolveMove(batch.branch, path, since);
    for (const one of wanted.values()) {
      const { path, theirs, from } = one;
      const place = one.base !== undefined && theirs !== undefined && !batch.has(path) ? movedTo(path) : path;
      const base =
        from !== undefined && one.base === undefined && batch.has(path) && movedTo(from) === path
          ? bases.get(from)
          : one.base;
      overlaps.push(...applyDesired(batch, { ...one, base, path: batch.has(place) ? place : path }, manner));
    }
    return overlaps;
  }

  #createMergeOptions(batch: Batch, { word, ...kind }: MergeSide): MergeOptions {
    return {
      ...kind,
      findConflictPath: (path) => findConflictPath(path, word, (candidate) => batch.isFree(candidate)),
    };
  }

  #finish(
    batch: Batch,
    overlaps: Overlap[],
    origin: Origin,
    options: CommitOptions & { branch: string },
    dryRun = false,
  ): MergeResponse {
    if (dryRun) return { overlaps, changes: this.#options.commits.previewChanges(batch, options.branch) };
    const { version } = this.#options.commits.write(batch, origin, options);
    return { overlaps, changes: version?.changes ?? [], ...(version ? { version } : {}) };
  }
}

function applyDesired(batch: Batch, wanted: DesiredFile, manner: MergeOptions): Overlap[] {
  const { becomes, conflictCopy, overlaps } = mergeThreeWay({ ...wanted, mine: batch.getContent(wanted.path) }, manner);
  if (becomes?.content !== undefined) batch.write(wanted.path, becomes.content);
  else if (becomes) batch.remove(wanted.path);
  if (conflictCopy) batch.write(conflictCopy.path, conflictCopy.content);
  if (wanted.from !== undefined) batch.recordMove(wanted.from, wanted.path);
  return overlaps;
}

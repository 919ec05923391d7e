import {
  type CommitResult,
  fail,
  type FileContent,
  type FileEdit,
  parseFilePath,
  type MergeResponse,
  type Origin,
  type Overlap,
  type Revert,
} from "@thinkery/sdk";
import type { Work } from "../host/fair-work.ts";
import { Batch } from "./batch.ts";
import type { BranchMerge, BranchMergeOptions, MergePreview, MergeVersions } from "./branch-merge.ts";
import type { BranchRow, Branches, KeptMerge } from "./branches.ts";
import type { CommitOptions, Commits } from "./commits.ts";
import { countTextUnits, isSameContent } from "./content.ts";
import type { FileRows } from "./file-rows.ts";
import type { HistoryReader } from "./history-reader.ts";
import type { History } from "./history.ts";
import { omitTexts } from "./overlap.ts";
import { findConflictPath, type MergeOptions, mergeThreeWay, type ThreeWayMerge } from "./three-way-merge.ts";

interface MergerOptions {
  rows: FileRows;
  history: History;
  branches: Branches;
  historyReader: HistoryReader;
  commits: Commits;
}

/** Names of both sides of a merge; `label` is used in the paths of conflict copies. */
type MergeSide = Omit<MergeOptions, "findConflictPath"> & { label: string };

/** The content a file should get. `from` is the previous path of a moved file. */
type DesiredFile = Pick<ThreeWayMerge, "path" | "base" | "theirs"> & { from?: string | undefined };

export interface RebaseOptions extends Pick<CommitOptions, "record" | "key" | "seen"> {
  /** Drops edits that are no longer possible and commits the others. */
  dropInvalid?: boolean;
}

/** A preview is sent to other objects, and kept in memory. */
const maxPreviewChars = 8 * 1024 * 1024;
const maxKeptOverlaps = 100;

/** Applies changes that were made on other content than the current files: by a shell, a revert or another branch. */
export class Merger {
  readonly #options: MergerOptions;

  constructor(options: MergerOptions) {
    this.#options = options;
  }

  *rebaseEdits(
    edits: readonly FileEdit[],
    base: number,
    origin: Origin,
    branch: string,
    { dropInvalid, ...options }: RebaseOptions,
  ): Work<CommitResult> {
    const { historyReader, rows } = this.#options;
    const batch = new Batch(rows, branch);
    const isUnchanged = historyReader.listChangedSince(branch, base)?.length === 0;
    const overlaps = isUnchanged ? [] : yield* this.#rebase(batch, edits, base, origin, branch);
    if (isUnchanged) for (const edit of edits) yield* batch.add(edit);
    const dropped = dropInvalid ? yield* batch.dropInvalid() : [];
    overlaps.push(...dropped.map(({ path, reason }) => ({ path, reason: `This edit was dropped. ${reason}` })));
    return { ...(yield* this.#options.commits.write(batch, origin, { branch, ...options })), overlaps };
  }

  *#rebase(batch: Batch, edits: readonly FileEdit[], base: number, origin: Origin, branch: string): Work<Overlap[]> {
    const other = origin.tool ?? origin.user ?? "this change";
    const mergeOptions = this.#createMergeOptions(batch, {
      names: { mine: "others", theirs: other },
      restoresDeleted: true,
      label: other,
    });
    return yield* this.#applyAll(batch, yield* this.#listDesired(edits, branch, base), mergeOptions, base);
  }

  *revert(
    ids: readonly number[],
    branch: string,
    origin: Origin,
    options: Pick<CommitOptions, "record"> & { dryRun?: Revert["dryRun"] },
  ): Work<MergeResponse> {
    const { rows, history } = this.#options;
    const { dryRun, ...rest } = options;
    const batch = new Batch(rows, branch);
    const overlaps: Overlap[] = [];
    // Latest first: later versions build on earlier ones.
    for (const id of [...ids].sort((a, b) => b - a)) {
      const mergeOptions = this.#createMergeOptions(batch, {
        names: { mine: "later changes", theirs: `before version ${id}` },
        restoresDeleted: false,
        label: `before-${id}`,
      });
      const desired: DesiredFile[] = [];
      for (const row of history.changes.iterate(id)) {
        const getCurrent = () => rows.getContent(row.branch, row.path);
        const file = {
          path: row.path,
          base: history.changes.getContentAfter(row, getCurrent),
          theirs: history.changes.getContentBefore(row, getCurrent),
          from: (row.kind === "moved" && row.other) || undefined,
        };
        desired.push(file);
        yield countReadUnits(file);
      }
      overlaps.push(...(yield* this.#applyAll(batch, desired, mergeOptions, id)));
    }
    return yield* this.#finish(batch, overlaps, origin, { branch, reverts: ids, ...rest }, dryRun);
  }

  /** Merges a branch. With the key of the branch's last merge, returns what that returned. */
  *merge(
    source: string,
    target: string,
    origin: Origin,
    { dryRun, key, expected, ...options }: BranchMergeOptions,
  ): Work<BranchMerge> {
    const { history, branches } = this.#options;
    const link = this.#findLink(source, target);
    if (key !== undefined && link.merge_key === key) return this.#readMerge(link);
    const versions = this.#getVersions(source, target);
    if (expected && (expected.source !== versions.source || expected.target !== versions.target))
      return { isStale: true, changes: [], overlaps: [] };
    const { batch, overlaps } = yield* this.#mergeFiles(source, target, link);
    const before = history.lastVersion;
    const runInTransaction = () => {
      const last = history.lastVersion;
      branches.recordMerge(link.name, source, last, Date.now());
      if (key === undefined) return;
      const kept = overlaps.slice(0, maxKeptOverlaps).map(omitTexts);
      branches.keepMerge(link.name, key, { overlaps: kept, ...(last > before ? { version: last } : {}) });
    };
    const commit = { branch: target, merges: source, runInTransaction, ...options };
    return yield* this.#finish(batch, overlaps, origin, commit, dryRun);
  }

  /** Returns what a merge would change, with the content. Throws if it would fail. */
  *preview(source: string, target: string): Work<MergePreview> {
    const versions = this.#getVersions(source, target);
    const { batch, overlaps } = yield* this.#mergeFiles(source, target, this.#findLink(source, target));
    const changes = yield* this.#options.commits.previewChanges(batch, target);
    const files = (yield* batch.listChanges()).map(({ path, after }) => ({ path, ...(after ? { after } : {}) }));
    const chars = files.reduce((sum, { after }) => sum + (typeof after?.content === "string" ? after.info.size : 0), 0);
    if (chars > maxPreviewChars)
      throw fail("too_large", "The merge changes too much text for a check. Merge it without one, or in parts.");
    return { into: target, versions, changes, overlaps, files };
  }

  #getVersions(source: string, target: string): MergeVersions {
    const { historyReader } = this.#options;
    return { source: historyReader.getLatest(source), target: historyReader.getLatest(target) };
  }

  /** Returns the branch that connects two branches: one was created from the other. */
  #findLink(source: string, target: string): BranchRow {
    const { branches } = this.#options;
    const link = [branches.get(source), branches.get(target)].find(
      (row) => row && (row.parent === source || row.parent === target),
    );
    if (source === target || !link)
      throw fail("conflict", `Cannot merge “${source}” into “${target}”: neither branch was created from the other.`);
    return link;
  }

  #readMerge({ merge_result: result }: BranchRow): MergeResponse {
    const { version: id, overlaps } = JSON.parse(result ?? '{"overlaps":[]}') as KeptMerge;
    const version = id === undefined ? undefined : this.#options.history.getVersion(id);
    return { overlaps, changes: version?.changes ?? [], ...(version ? { version } : {}) };
  }

  *#mergeFiles(source: string, target: string, link: BranchRow): Work<{ batch: Batch; overlaps: Overlap[] }> {
    const { rows, history, historyReader, commits } = this.#options;
    const { base_branch: baseBranch, base_version: baseVersion } = link;
    const batch = new Batch(rows, target);
    const mergeOptions = this.#createMergeOptions(batch, {
      names: { mine: target, theirs: source },
      restoresDeleted: true,
      label: source,
    });
    const desired: DesiredFile[] = [];
    yield units.listed * commits.getTotals(source).files;
    for (const path of [...historyReader.listDiffering(source, baseBranch, baseVersion)].sort()) {
      const base = historyReader.getContent(baseBranch, path, baseVersion);
      desired.push({ path, base, theirs: rows.getContent(source, path) });
      yield countReadUnits({ base, theirs: undefined });
    }
    const getBaseVersion = (branch: string) => (baseBranch === branch ? baseVersion : link.at);
    // By current path: a file missing from its old path may have been moved.
    const moves = new Map<string, string>();
    for (const { path, theirs } of desired)
      if (theirs === undefined)
        moves.set(yield* history.changes.resolveMove(source, path, getBaseVersion(source)), path);
    const overlaps = yield* this.#applyAll(
      batch,
      desired.map((file) => ({ ...file, from: moves.get(file.path) })),
      mergeOptions,
      getBaseVersion(target),
    );
    return { batch, overlaps };
  }

  /**
   * Returns the content each file gets from these edits in order, with its base. Edits of missing files are ignored.
   */
  *#listDesired(edits: readonly FileEdit[], branch: string, version: number): Work<DesiredFile[]> {
    const { historyReader } = this.#options;
    const getBase = (path: string) => historyReader.getContent(branch, path, version);
    const theirs = new Map<string, FileContent | undefined>();
    const moves = new Map<string, string>();
    const getContent = (path: string) => (theirs.has(path) ? theirs.get(path) : getBase(path));
    const listPaths = (fileOrFolder: string) => {
      if (getContent(fileOrFolder) !== undefined) return [fileOrFolder];
      const stored = historyReader.listHashes(branch, version, fileOrFolder).keys();
      const touched = [...theirs.keys()].filter((path) => path.startsWith(`${fileOrFolder}/`));
      return [...new Set([...stored, ...touched])].filter((path) => getContent(path) !== undefined);
    };
    for (const edit of edits) {
      if ("write" in edit) {
        theirs.set(parseFilePath(edit.write), edit.content);
        continue;
      }
      const from = parseFilePath("delete" in edit ? edit.delete : edit.move);
      const paths = listPaths(from);
      yield units.listed * (paths.length + theirs.size);
      for (const path of paths) {
        const content = getContent(path);
        yield 2 * countReadUnits({ base: content, theirs: undefined });
        const origin = moves.get(path) ?? path;
        theirs.set(path, undefined);
        moves.delete(path);
        if ("delete" in edit) continue;
        const to = parseFilePath(parseFilePath(edit.to) + path.slice(from.length));
        theirs.set(to, content);
        if (to !== origin) moves.set(to, origin);
      }
    }
    // Deletions first, to free their paths.
    const getRank = ({ theirs: content }: DesiredFile) => Number(content !== undefined);
    const desired: DesiredFile[] = [];
    for (const [path, content] of theirs) {
      const base = getBase(path);
      desired.push({ path, base, theirs: content, from: moves.get(path) });
      yield countReadUnits({ base, theirs: undefined });
    }
    return desired.sort((a, b) => getRank(a) - getRank(b));
  }

  /** Merges files into a batch. If one side moved a file, the other side's changes since a version move with it. */
  *#applyAll(batch: Batch, files: readonly DesiredFile[], options: MergeOptions, since: number): Work<Overlap[]> {
    const { history } = this.#options;
    const pending = new Map(files.map((file) => [file.path, file]));
    const bases = new Map(files.map(({ path, base }) => [path, base]));
    const overlaps: Overlap[] = [];
    for (const { path, base, theirs, from } of files) {
      yield from === undefined ? 1 : countMergeUnits({ base, theirs });
      const source = from === undefined ? undefined : pending.get(from);
      if (
        !source ||
        from === path ||
        batch.has(path) ||
        !batch.has(source.path) ||
        isSameContent(batch.getContent(source.path), source.base)
      )
        continue;
      const result = mergeThreeWay({ path, base: source.base, mine: batch.getContent(source.path), theirs }, options);
      if (result.conflictCopy) continue;
      batch.write(path, (result.merged?.content ?? batch.getContent(source.path)) as FileContent);
      batch.remove(source.path);
      batch.recordMove(source.path, path);
      overlaps.push(...result.overlaps);
      pending.delete(path);
      pending.delete(source.path);
    }
    const resolveMove = (path: string) => history.changes.resolveMove(batch.branch, path, since);
    for (const file of pending.values()) {
      const { path, theirs, from } = file;
      yield countMergeUnits(file);
      const target =
        file.base !== undefined && theirs !== undefined && !batch.has(path) ? yield* resolveMove(path) : path;
      const base =
        from !== undefined && file.base === undefined && batch.has(path) && (yield* resolveMove(from)) === path
          ? bases.get(from)
          : file.base;
      overlaps.push(...applyDesired(batch, { ...file, base, path: batch.has(target) ? target : path }, options));
    }
    return overlaps;
  }

  #createMergeOptions(batch: Batch, { label, ...options }: MergeSide): MergeOptions {
    const taken = new Map<string, number>();
    return {
      ...options,
      findConflictPath: (path) => findConflictPath(path, label, (candidate) => batch.isFree(candidate), taken),
    };
  }

  *#finish(
    batch: Batch,
    overlaps: Overlap[],
    origin: Origin,
    options: CommitOptions & { branch: string },
    dryRun = false,
  ): Work<MergeResponse> {
    if (dryRun) return { overlaps, changes: yield* this.#options.commits.previewChanges(batch, options.branch) };
    const { version } = yield* this.#options.commits.write(batch, origin, options);
    return { overlaps, changes: version?.changes ?? [], ...(version ? { version } : {}) };
  }
}

const units = { listed: 12 };

type ComparedFile = Pick<DesiredFile, "base" | "theirs">;

/** Units of work to read a file as it was. */
const countReadUnits = ({ base, theirs }: ComparedFile) => 60 + 5 * (countTextUnits(base) + countTextUnits(theirs));

/** Units of work to merge a file. */
const countMergeUnits = ({ base, theirs }: ComparedFile) => 150 + 20 * (countTextUnits(base) + countTextUnits(theirs));

function applyDesired(batch: Batch, file: DesiredFile, options: MergeOptions): Overlap[] {
  const { merged, conflictCopy, overlaps } = mergeThreeWay({ ...file, mine: batch.getContent(file.path) }, options);
  if (merged?.content !== undefined) batch.write(file.path, merged.content);
  else if (merged) batch.remove(file.path);
  if (conflictCopy) batch.write(conflictCopy.path, conflictCopy.content);
  if (file.from !== undefined) batch.recordMove(file.from, file.path);
  return overlaps;
}

import { type CommitResult, fail, type FileContent, type FileEdit, filePath, type Merge, type Merged, type Origin, type Overlap, type Revert } from "@thinkery/sdk";
import { Batch } from "./batch.ts";
import type { Branches } from "./branches.ts";
import type { CommitOptions, Commits } from "./commits.ts";
import { isSame } from "./content.ts";
import type { FileRows } from "./file-rows.ts";
import type { History } from "./history.ts";
import type { Past } from "./past.ts";
import { besidePath, type Manner, threeWay, type ThreeWay } from "./three-way.ts";

interface MergingOptions {
  rows: FileRows;
  history: History;
  branches: Branches;
  past: Past;
  commits: Commits;
}

/** How the other side of a merge is called, also where a file of its is put beside ours. */
type Kind = Omit<Manner, "beside"> & { word: string };

/** `from` is where a file was that is moved. */
type Wanted = Pick<ThreeWay, "path" | "base" | "theirs"> & { from?: string | undefined };

export interface LandOptions extends Pick<CommitOptions, "record" | "key" | "seen"> {
  /** Is what could not be where it should be left out, and the rest taken? */
  partly?: boolean;
}

/** Changes that were made on other files than there are now: of a shell, of an earlier version, of another branch. */
export class Merging {
  readonly #options: MergingOptions;

  constructor(options: MergingOptions) {
    this.#options = options;
  }

  land(edits: readonly FileEdit[], base: number, origin: Origin, branch: string, { partly, ...options }: LandOptions): CommitResult {
    const { past, rows } = this.#options;
    const batch = new Batch(rows, branch);
    const isAsThen = past.changedSince(branch, base)?.length === 0;
    const overlaps = isAsThen ? [] : this.#bring(batch, edits, base, origin, branch);
    if (isAsThen) for (const edit of edits) batch.add(edit);
    if (partly) overlaps.push(...batch.sift().map(({ path, reason }) => ({ path, reason: `It was not kept. ${reason}` })));
    return { ...this.#options.commits.write(batch, origin, { branch, ...options }), overlaps };
  }

  #bring(batch: Batch, edits: readonly FileEdit[], base: number, origin: Origin, branch: string): Overlap[] {
    const other = origin.tool ?? origin.user ?? "this change";
    const manner = this.#manner(batch, { names: { mine: "others meanwhile", theirs: other }, revives: true, word: other });
    return this.#apply(batch, this.#wanted(edits, branch, base), manner, base);
  }

  revert(ids: readonly number[], branch: string, origin: Origin, options: Pick<CommitOptions, "record"> & { dryRun?: Revert["dryRun"] }): Merged {
    const { rows, history } = this.#options;
    const { dryRun, ...rest } = options;
    const batch = new Batch(rows, branch);
    const overlaps: Overlap[] = [];
    // The latest is taken back first: what an earlier one wrote is under what came later.
    for (const id of [...ids].sort((a, b) => b - a)) {
      const manner = this.#manner(batch, { names: { mine: "later changes", theirs: `before version ${id}` }, revives: false, word: `before-${id}` });
      const wanted = history.changesOf(id).map((row): Wanted => {
        const now = () => rows.content(row.branch, row.path);
        return { path: row.path, base: history.after(row, now), theirs: history.before(row, now), from: (row.kind === "moved" && row.other) || undefined };
      });
      overlaps.push(...this.#apply(batch, wanted, manner, id));
    }
    return this.#finish(batch, overlaps, origin, { branch, reverts: ids, ...rest }, dryRun);
  }

  merge(source: string, target: string, origin: Origin, options: Pick<CommitOptions, "record"> & { dryRun?: Merge["dryRun"] }): Merged {
    const { rows, history, branches, past } = this.#options;
    const { dryRun, ...rest } = options;
    const link = [branches.get(source), branches.get(target)].find((row) => row && (row.parent === source || row.parent === target));
    if (source === target || !link) throw fail("conflict", `“${source}” and “${target}” do not come from one another.`);
    const { base_branch: baseBranch, base_version: baseVersion } = link;
    const batch = new Batch(rows, target);
    const manner = this.#manner(batch, { names: { mine: target, theirs: source }, revives: true, word: source });
    const wanted = [...past.differing(source, baseBranch, baseVersion)].sort().map((path): Wanted => ({ path, base: past.content(baseBranch, path, baseVersion), theirs: rows.content(source, path) }));
    const since = (branch: string) => (baseBranch === branch ? baseVersion : link.at);
    // By where they are now: what is gone from one place may have come to another.
    const moves = new Map(wanted.flatMap(({ path, theirs }) => (theirs === undefined ? [[history.movedTo(source, path, since(source)), path]] : [])));
    const overlaps = this.#apply(batch, wanted.map((one) => ({ ...one, from: moves.get(one.path) })), manner, since(target));
    const also = () => branches.merged(link.name, source, history.last, Date.now());
    return this.#finish(batch, overlaps, origin, { branch: target, merges: source, also, ...rest }, dryRun);
  }

  /** What edits, made one after the other, want of each file, with what it began from. What was not there then is not missed. */
  #wanted(edits: readonly FileEdit[], branch: string, version: number): Wanted[] {
    const { past } = this.#options;
    const then = (path: string) => past.content(branch, path, version);
    const theirs = new Map<string, FileContent | undefined>();
    const moves = new Map<string, string>();
    const at = (path: string) => (theirs.has(path) ? theirs.get(path) : then(path));
    const within = (place: string) => {
      if (at(place) !== undefined) return [place];
      const touched = [...theirs.keys()].filter((path) => path.startsWith(`${place}/`));
      return [...new Set([...past.list(branch, version, { under: place }).map(({ path }) => path), ...touched])].filter((path) => at(path) !== undefined);
    };
    for (const edit of edits) {
      if ("write" in edit) {
        theirs.set(filePath(edit.write), edit.content);
        continue;
      }
      const from = filePath("delete" in edit ? edit.delete : edit.move);
      for (const path of within(from)) {
        const content = at(path);
        theirs.set(path, undefined);
        if ("delete" in edit) continue;
        const to = filePath(filePath(edit.to) + path.slice(from.length));
        theirs.set(to, content);
        moves.set(to, moves.get(path) ?? path);
      }
    }
    // What is gone makes room first.
    const gone = ({ theirs: content }: Wanted) => Number(content !== undefined);
    return [...theirs].map(([path, content]): Wanted => ({ path, base: then(path), theirs: content, from: moves.get(path) })).sort((one, other) => gone(one) - gone(other));
  }

  /** Brings all of it to a batch. What was done to a file since a version goes along with it, whichever of the two has moved it. */
  #apply(batch: Batch, all: readonly Wanted[], manner: Manner, since: number): Overlap[] {
    const { history } = this.#options;
    const wanted = new Map(all.map((one) => [one.path, one]));
    const bases = new Map(all.map(({ path, base }) => [path, base]));
    const overlaps: Overlap[] = [];
    for (const { path, theirs, from } of all) {
      const gone = from === undefined ? undefined : wanted.get(from);
      if (!gone || from === path || batch.has(path) || !batch.has(gone.path) || isSame(batch.content(gone.path), gone.base)) continue;
      const came = threeWay({ path, base: gone.base, mine: batch.content(gone.path), theirs }, manner);
      if (came.beside) continue;
      batch.write(path, (came.becomes?.content ?? batch.content(gone.path)) as FileContent);
      batch.remove(gone.path);
      batch.moved(gone.path, path);
      overlaps.push(...came.overlaps);
      wanted.delete(path);
      wanted.delete(gone.path);
    }
    const movedTo = (path: string) => history.movedTo(batch.branch, path, since);
    for (const one of wanted.values()) {
      const { path, theirs, from } = one;
      const place = one.base !== undefined && theirs !== undefined && !batch.has(path) ? movedTo(path) : path;
      const base = from !== undefined && one.base === undefined && batch.has(path) && movedTo(from) === path ? bases.get(from) : one.base;
      overlaps.push(...apply(batch, { ...one, base, path: batch.has(place) ? place : path }, manner));
    }
    return overlaps;
  }

  #manner(batch: Batch, { word, ...kind }: Kind): Manner {
    return { ...kind, beside: (path) => besidePath(path, word, (candidate) => batch.isFree(candidate)) };
  }

  #finish(batch: Batch, overlaps: Overlap[], origin: Origin, options: CommitOptions & { branch: string }, dryRun = false): Merged {
    if (dryRun) return { overlaps, changes: this.#options.commits.check(batch, options.branch) };
    const { version } = this.#options.commits.write(batch, origin, options);
    return { overlaps, changes: version?.changes ?? [], ...(version ? { version } : {}) };
  }
}

function apply(batch: Batch, wanted: Wanted, manner: Manner): Overlap[] {
  const { becomes, beside, overlaps } = threeWay({ ...wanted, mine: batch.content(wanted.path) }, manner);
  if (becomes?.content !== undefined) batch.write(wanted.path, becomes.content);
  else if (becomes) batch.remove(wanted.path);
  if (beside) batch.write(beside.path, beside.content);
  if (wanted.from !== undefined) batch.moved(wanted.from, wanted.path);
  return overlaps;
}

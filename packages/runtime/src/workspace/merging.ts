import { fail, type FileEdit, filePath, type Landed, type Merge, type Merged, type Origin, type Overlap, type Revert } from "@thinkery/sdk";
import { Batch } from "./batch.ts";
import type { Branches } from "./branches.ts";
import type { CommitOptions, Commits } from "./commits.ts";
import type { FileRows } from "./file-rows.ts";
import type { History } from "./history.ts";
import type { Past } from "./past.ts";
import { besidePath, type Manner, threeWay, type ThreeWay } from "./three-way.ts";

interface MergingOptions {
  storage: DurableObjectStorage;
  rows: FileRows;
  history: History;
  branches: Branches;
  past: Past;
  commits: Commits;
}

/** How the other side of a merge is called, also where a file of its is put beside ours. */
type Kind = Omit<Manner, "beside"> & { word: string };

/** `from` is where a file was that is moved. */
type Wanted = Pick<ThreeWay, "path" | "base" | "theirs"> & { from?: string };

export interface LandOptions extends Pick<CommitOptions, "record"> {
  /** Is what could not be where it should be left out, and the rest taken? */
  partly?: boolean;
}

/** Changes that were made on other files than there are now: of a shell, of an earlier version, of another branch. */
export class Merging {
  readonly #options: MergingOptions;

  constructor(options: MergingOptions) {
    this.#options = options;
  }

  land(edits: readonly FileEdit[], base: number, origin: Origin, branch: string, { partly, ...options }: LandOptions): Landed {
    const { past, rows } = this.#options;
    const batch = new Batch(rows, branch);
    const isAsThen = past.changedSince(branch, base)?.length === 0;
    const overlaps = isAsThen ? [] : this.#bring(batch, edits, base, origin, branch);
    if (isAsThen) for (const edit of edits) batch.add(edit);
    if (partly) overlaps.push(...batch.sift().map(({ path, reason }) => ({ path, reason: `It was not kept. ${reason}` })));
    const { version } = this.#finish(batch, overlaps, origin, { branch, ...options });
    return { overlaps, ...(version ? { version } : {}) };
  }

  #bring(batch: Batch, edits: readonly FileEdit[], base: number, origin: Origin, branch: string): Overlap[] {
    const other = origin.tool ?? origin.user ?? "this change";
    const manner = this.#manner(batch, { names: { mine: "others meanwhile", theirs: other }, revives: true, word: other });
    return edits.flatMap((edit) => this.#wanted(edit, branch, base)).flatMap((way) => apply(batch, way, manner));
  }

  revert(ids: readonly number[], branch: string, origin: Origin, options: Pick<CommitOptions, "record"> & { dryRun?: Revert["dryRun"] }): Merged {
    const { rows, history } = this.#options;
    const { dryRun, ...rest } = options;
    const batch = new Batch(rows, branch);
    const overlaps: Overlap[] = [];
    // The latest is taken back first: what an earlier one wrote is under what came later.
    for (const id of [...ids].sort((a, b) => b - a)) {
      const manner = this.#manner(batch, { names: { mine: "later changes", theirs: `before version ${id}` }, revives: false, word: `before-${id}` });
      for (const row of history.changesOf(id)) {
        const now = () => rows.content(row.branch, row.path);
        overlaps.push(...apply(batch, { path: row.path, base: history.after(row, now), theirs: history.before(row, now) }, manner));
      }
    }
    return this.#finish(batch, overlaps, origin, { branch, reverts: ids, ...rest }, dryRun);
  }

  merge(source: string, target: string, origin: Origin, options: Pick<CommitOptions, "record"> & { dryRun?: Merge["dryRun"] }): Merged {
    const { rows, history, branches, past, storage } = this.#options;
    const { dryRun, ...rest } = options;
    const link = [branches.get(source), branches.get(target)].find((row) => row && (row.parent === source || row.parent === target));
    if (source === target || !link) throw fail("conflict", `“${source}” and “${target}” do not come from one another.`);
    const { base_branch: baseBranch, base_version: baseVersion } = link;
    const batch = new Batch(rows, target);
    const manner = this.#manner(batch, { names: { mine: target, theirs: source }, revives: true, word: source });
    const overlaps = [...past.differing(source, baseBranch, baseVersion)].sort().flatMap((path) => {
      return apply(batch, { path, base: past.content(baseBranch, path, baseVersion), theirs: rows.content(source, path) }, manner);
    });
    return storage.transactionSync(() => {
      const result = this.#finish(batch, overlaps, origin, { branch: target, merges: source, ...rest }, dryRun);
      if (!dryRun) branches.merged(link.name, source, history.last, Date.now());
      return result;
    });
  }

  /** What an edit wants of each file, with what it began from. */
  #wanted(edit: FileEdit, branch: string, base: number): Wanted[] {
    const { past } = this.#options;
    const at = (path: string) => past.content(branch, path, base);
    if ("write" in edit) {
      const path = filePath(edit.write);
      return [{ path, base: at(path), theirs: edit.content }];
    }
    const from = filePath("delete" in edit ? edit.delete : edit.move);
    const all = at(from) === undefined ? past.list(branch, base, { under: from }).map(({ path }) => path) : [from];
    return all.flatMap((path) => {
      const content = at(path);
      const gone = { path, base: content, theirs: undefined };
      if ("delete" in edit) return [gone];
      const to = filePath(filePath(edit.to) + path.slice(from.length));
      return [gone, { path: to, base: at(to), theirs: content, from: path }];
    });
  }

  #manner(batch: Batch, { word, ...kind }: Kind): Manner {
    const plain = word.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 40);
    return { ...kind, beside: (path) => besidePath(path, plain, (taken) => batch.has(taken)) };
  }

  #finish(batch: Batch, overlaps: Overlap[], origin: Origin, options: CommitOptions & { branch: string }, dryRun = false): Merged {
    if (dryRun) return { overlaps, changes: this.#options.commits.check(batch, options.branch) };
    const version = this.#options.commits.write(batch, origin, options);
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

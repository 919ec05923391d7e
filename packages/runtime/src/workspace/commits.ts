import type { Change, CommitResult, FileContent, NewEvent, Origin, TextPatch, Version } from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import type { Batch } from "./batch.ts";
import type { Branches } from "./branches.ts";
import { isSameContent, toContentWithInfo } from "./content.ts";
import type { FileRows, Totals } from "./file-rows.ts";
import type { ChangeRow, History } from "./history.ts";
import type { SeenFiles } from "./seen-files.ts";
import { Step } from "./step.ts";

/** After so many changes there is a whole copy again: nobody goes further to find a text. */
const maxPatchesBetweenCopies = 32;
/** How often it is looked whether versions are old enough to go. */
const versionsBetweenCleanups = 50;

export interface CommitOptions {
  branch?: string | undefined;
  /** A commit with the key of an earlier one is that one: its result is returned, and nothing is written. */
  key?: string | undefined;
  /** Marks what is written as seen by the model, and moves what it had seen along with its file. */
  seen?: boolean | undefined;
  /** Is it part of something that goes on, like typing? Then it joins the version before it. */
  joins?: boolean;
  reverts?: readonly number[];
  merges?: string;
  /** What belongs to it and is stored with it, or not at all. Done also where there is nothing to commit. */
  runInTransaction?(): void;
  record?(event: NewEvent): void;
}

/** What a commit changed, for whoever follows. */
export interface Commit {
  branch: string;
  version: number;
  origin: Origin;
  changes: CommittedChange[];
}

interface CommittedChange {
  path: string;
  before: FileContent | undefined;
  after: FileContent | undefined;
  /** Present if both are text. */
  patch?: TextPatch | undefined;
}

interface CommitsOptions {
  storage: DurableObjectStorage;
  rows: FileRows;
  history: History;
  branches: Branches;
  seen: SeenFiles;
  limits: WorkspaceLimits;
  record(event: NewEvent): void;
}

/** The one way to make a version. */
export class Commits {
  readonly #options: CommitsOptions;
  readonly #subscribers = new Set<(commit: Commit) => void>();
  readonly #totals = new Map<string, Totals>();
  /**
   * The latest version that somebody knows of: what it is stays as it is, and more of the same typing is another one.
   * Who knew of what in an earlier life is forgotten, so all of those stay.
   */
  #lastKnownVersion: number;

  constructor(options: CommitsOptions) {
    this.#options = options;
    this.#lastKnownVersion = options.history.lastVersion;
  }

  /** The latest version of all, which somebody is told of. */
  markLatestKnown(): number {
    this.#lastKnownVersion = this.#options.history.lastVersion;
    return this.#lastKnownVersion;
  }

  getTotals(branch: string): Totals {
    let totals = this.#totals.get(branch);
    if (!totals) {
      totals = this.#options.rows.computeTotals(branch);
      this.#totals.set(branch, totals);
    }
    return totals;
  }

  subscribe(listener: (commit: Commit) => void): () => void {
    this.#subscribers.add(listener);
    return () => this.#subscribers.delete(listener);
  }

  /** A branch is gone. */
  dropBranch(branch: string): void {
    this.#totals.delete(branch);
    this.#notify({ branch, version: 0, origin: { kind: "user" }, changes: [] });
  }

  /** All of it is stored, the event that tells of it too, or nothing is and nobody hears of it. */
  write(batch: Batch, origin: Origin, options: CommitOptions & { branch: string }): CommitResult {
    const { branch, key, runInTransaction = () => {}, record = this.#options.record } = options;
    const { history, storage } = this.#options;
    const steps = batch.listChanges();
    const finish = () => {
      if (options.seen) this.#options.seen.applyChanges(branch, steps);
      runInTransaction();
    };
    if (steps.length === 0) {
      storage.transactionSync(finish);
      return { overlaps: [], patches: [] };
    }
    const totals = batch.check(steps, this.#options.limits, this.getTotals(branch));
    const now = Date.now();
    const typed = options.joins
      ? history.findTypingVersion(branch, origin.user, now, this.#lastKnownVersion)
      : undefined;
    const id = typed ?? history.lastVersion + 1;
    const version = storage.transactionSync(() => {
      if (typed === undefined)
        history.add({
          id,
          branch,
          at: now,
          joins: options.joins ?? false,
          origin,
          key,
          reverts: options.reverts,
          merges: options.merges,
        });
      else history.extend(id, now);
      // A file may have to leave its name before another one can have it.
      for (const step of [...steps].sort((a, b) => Number(a.after !== undefined) - Number(b.after !== undefined)))
        this.#writeChange(id, branch, step, now, typed !== undefined);
      finish();
      const written = history.getVersion(id) as Version;
      if (typed === undefined) record(createChangedEvent(written));
      return written;
    });
    this.#totals.set(branch, totals);
    this.#notify({ branch, version: id, origin, changes: steps.map(toCommittedChange) });
    if (typed === undefined && id % versionsBetweenCleanups === 0) this.#runSafely(() => this.#forgetOldVersions(now));
    return { version, overlaps: [], patches: collectPatches(steps) };
  }

  /** Returns the result of an earlier commit with this key. */
  find(key: string): CommitResult | undefined {
    const { history } = this.#options;
    const version = history.findByKey(key);
    return version && { version, overlaps: [], patches: collectPatches(history.listChanges(version.id)) };
  }

  /** What would become of it, and nothing else. */
  previewChanges(batch: Batch, branch: string): Change[] {
    const steps = batch.listChanges();
    batch.check(steps, this.#options.limits, this.getTotals(branch));
    return steps.flatMap(({ path, kind, other }) =>
      kind === "moved" ? [] : [{ path, kind, ...(other === undefined ? {} : { from: other }) }],
    );
  }

  #writeChange(version: number, branch: string, step: Step, at: number, joins: boolean): void {
    const { rows, history } = this.#options;
    const { path, after } = step;
    // All that is done to a file in one version is one step on the way back to its older texts.
    const earlier = joins ? history.getChange(version, path) : undefined;
    const before = rows.countPatches(branch, path);
    const whole = !earlier && before >= maxPatchesBetweenCopies;
    if (earlier) history.replaceChange(earlier, this.#joinChanges(earlier, step));
    else history.recordChange(version, branch, step, whole);
    const patches = whole || typeof after?.content !== "string" ? 0 : before + (earlier ? 0 : 1);
    if (after) rows.put(branch, path, after.content, after.info, { version, at, patches });
    else rows.remove(branch, path);
  }

  /** Two changes of a file in one version are one change. */
  #joinChanges(earlier: ChangeRow, step: Step): Step | undefined {
    const before = this.#options.history.getContentBefore(earlier, () => step.before?.content);
    const { path, after } = step;
    if (isSameContent(before, after?.content)) return undefined;
    if (before === undefined) return new Step({ path, kind: "add", before: undefined, after });
    return new Step({ path, kind: after ? "edit" : "delete", before: toContentWithInfo(before, path), after });
  }

  #notify(commit: Commit): void {
    for (const follow of this.#subscribers) this.#runSafely(() => follow(commit));
  }

  /** What is written is written, whatever becomes of what follows from it. */
  #runSafely(work: () => void): void {
    try {
      work();
    } catch (error) {
      console.error("what follows from a commit failed", error);
    }
  }

  #forgetOldVersions(now: number): void {
    const { history, branches, limits, storage, record } = this.#options;
    const { retainDays, retainVersions } = limits;
    if (retainDays === 0 && retainVersions === 0) return;
    // What a branch is to be merged with is needed for as long as the branch is there.
    const needed = Math.min(
      ...branches.list().flatMap(({ at, base_version: base }) => [at, base]),
      Number.POSITIVE_INFINITY,
    );
    const cutoff = history.computeCutoff(
      retainDays === 0 ? undefined : now - retainDays * 86_400_000,
      retainVersions === 0 ? undefined : retainVersions,
    );
    const upTo = Math.min(cutoff, needed);
    storage.transactionSync(() => {
      const versions = history.forget(upTo);
      if (versions > 0) record({ type: "files.pruned", data: { upTo, versions } });
    });
  }
}

/** The patch is computed only if a follower reads it. */
function toCommittedChange(step: Step): CommittedChange {
  return {
    path: step.path,
    before: step.before?.content,
    after: step.after?.content,
    get patch() {
      return step.patch;
    },
  };
}

function collectPatches(changes: Iterable<{ path: string; patch: TextPatch | undefined }>): CommitResult["patches"] {
  return Array.from(changes).flatMap(({ path, patch }) => (patch ? [{ path, patch }] : []));
}

function createChangedEvent({ id, origin, changes, more, reverts, merges }: Version): NewEvent {
  return {
    type: "files.changed",
    data: {
      version: id,
      origin,
      changes,
      ...(more ? { more } : {}),
      ...(reverts ? { reverts } : {}),
      ...(merges === undefined ? {} : { merges }),
    },
  };
}

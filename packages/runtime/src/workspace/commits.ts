import {
  type Change,
  type CommitResult,
  type FileContent,
  mainBranch,
  type NewEvent,
  type Origin,
  type TextPatch,
  type Version,
} from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import { fullSlice, type Work } from "../host/fair-work.ts";
import type { Batch } from "./batch.ts";
import type { BranchUsage } from "./branch-usage.ts";
import type { Branches } from "./branches.ts";
import type { ChangeRow } from "./change-log.ts";
import { countTextUnits, isSameContent, toContentWithInfo } from "./content.ts";
import type { FileRows, Totals } from "./file-rows.ts";
import type { History } from "./history.ts";
import type { SeenFiles } from "./seen-files.ts";
import { Step } from "./step.ts";
import { countStoredBytes } from "./stored-bytes.ts";

/** Maximum patches between two full copies of a text, which bounds the work to restore an older one. */
const maxPatchesBetweenCopies = 32;
/** Old versions are pruned once per this many new ones, and after each large one. */
const versionsBetweenCleanups = 50;
/** Pruning is part of a commit, so it must not take long either. */
const maxPrunedChanges = 10_000;
/** A larger commit starts after a pause. */
const maxSmallCommit = 100;
const unitsPerStep = 40;

export interface CommitOptions {
  branch?: string | undefined;
  /** Idempotency key. A commit with the key of an earlier one returns that one's result and writes nothing. */
  key?: string | undefined;
  /** Marks written files as seen by the model; a moved file it had seen stays seen. */
  seen?: boolean | undefined;
  /** Extends the previous version if possible, as for typing. */
  joins?: boolean;
  reverts?: readonly number[];
  merges?: string;
  /** Runs in the same transaction as the commit, also if there is nothing to commit. */
  runInTransaction?(): void;
  record?(event: NewEvent): void;
}

/** A commit as passed to subscribers. */
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
  branchUsage: BranchUsage;
  seen: SeenFiles;
  limits: WorkspaceLimits;
  record(event: NewEvent): void;
  /** Throws if the agent must not store so many more bytes in its database. */
  checkGrowth?(bytes: number): void;
}

/** Writes versions. Every change to the files goes through here. */
export class Commits {
  readonly #options: CommitsOptions;
  readonly #subscribers = new Set<(commit: Commit) => void>();
  readonly #totals = new Map<string, Totals>();
  /**
   * The latest version that anyone outside may have read. Its content must not change any more, so further typing starts
   * a new version. After a restart, all existing versions count as known.
   */
  #lastKnownVersion: number;
  #revision = 0;

  constructor(options: CommitsOptions) {
    this.#options = options;
    this.#lastKnownVersion = options.history.lastVersion;
  }

  /** Returns the latest version across all branches and marks it as known outside. */
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

  /** Changes with every change to the files of any branch. */
  get revision(): number {
    return this.#revision;
  }

  markChanged(): void {
    this.#revision++;
  }

  /** Forgets a removed branch and notifies subscribers with version 0. */
  dropBranch(branch: string): void {
    this.markChanged();
    this.#totals.delete(branch);
    this.#options.branchUsage.drop(branch);
    this.#notify({ branch, version: 0, origin: { kind: "user" }, changes: [] });
  }

  /** Stores the changes and their event in one transaction, then notifies subscribers. */
  *write(batch: Batch, origin: Origin, options: CommitOptions & { branch: string }): Work<CommitResult> {
    const { branch, key, runInTransaction = () => {}, record = this.#options.record } = options;
    const { history, storage } = this.#options;
    const steps = yield* batch.listChanges();
    const finish = () => {
      if (options.seen) this.#options.seen.applyChanges(branch, steps);
      runInTransaction();
    };
    if (steps.length === 0) {
      storage.transactionSync(finish);
      return { overlaps: [], patches: [] };
    }
    const totals = yield* this.#check(batch, steps, branch);
    if (steps.length > maxSmallCommit) yield fullSlice + unitsPerStep * steps.length;
    // No pause from here on.
    const now = Date.now();
    const typingVersion = options.joins
      ? history.findTypingVersion(branch, origin.user, now, this.#lastKnownVersion)
      : undefined;
    const id = typingVersion ?? history.lastVersion + 1;
    const version = storage.transactionSync(() => {
      if (typingVersion === undefined)
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
      // Deletions first: a file may have to free its name for another one.
      for (const step of [...steps].sort((a, b) => Number(a.after !== undefined) - Number(b.after !== undefined)))
        this.#writeChange(id, branch, step, now, typingVersion !== undefined);
      finish();
      const stored = history.getVersion(id) as Version;
      if (typingVersion === undefined) record(createChangedEvent(stored));
      return stored;
    });
    this.markChanged();
    this.#totals.set(branch, totals);
    this.#options.branchUsage.apply(branch, steps);
    this.#notify({ branch, version: id, origin, changes: steps.map(toCommittedChange) });
    if (typingVersion === undefined && (id % versionsBetweenCleanups === 0 || steps.length > maxSmallCommit))
      this.#runSafely(() => this.#forgetOldVersions(now));
    return { version, overlaps: [], patches: collectPatches(steps) };
  }

  /** Returns the result of an earlier commit with this key. */
  find(key: string): CommitResult | undefined {
    const { history } = this.#options;
    const version = history.findByKey(key);
    return version && { version, overlaps: [], patches: collectPatches(history.changes.iterate(version.id)) };
  }

  /** Returns the changes a commit would make. Throws if it would fail. */
  *previewChanges(batch: Batch, branch: string): Work<Change[]> {
    const steps = yield* batch.listChanges();
    yield* this.#check(batch, steps, branch);
    return steps.flatMap(({ path, kind, other }) =>
      kind === "moved" ? [] : [{ path, kind, ...(other === undefined ? {} : { from: other }) }],
    );
  }

  /** Returns the branch's new totals. Throws if the changes exceed a limit. */
  *#check(batch: Batch, steps: readonly Step[], branch: string): Work<Totals> {
    const { limits, branchUsage, checkGrowth } = this.#options;
    const before = this.getTotals(branch);
    const after = yield* batch.check(steps, limits, before);
    branchUsage.check(branch, steps, limits, () => this.getTotals(mainBranch));
    yield* computePatches(steps);
    checkGrowth?.(countStoredBytes(steps));
    return after;
  }

  #writeChange(version: number, branch: string, step: Step, at: number, isExtension: boolean): void {
    const {
      rows,
      history: { changes },
    } = this.#options;
    const { path, after } = step;
    // All changes of a file in one version count as one patch on the way back to its older texts.
    const earlier = isExtension ? changes.get(version, path) : undefined;
    const { patchCount } = step;
    const withCopy = !earlier && patchCount >= maxPatchesBetweenCopies;
    if (earlier) changes.replace(earlier, this.#joinChanges(earlier, step));
    else changes.record(version, branch, step, withCopy);
    const patches = withCopy || typeof after?.content !== "string" ? 0 : patchCount + (earlier ? 0 : 1);
    if (after) rows.put(branch, path, after.content, after.info, { version, at, patches });
    else rows.remove(branch, path);
  }

  /** Combines two changes of a file in one version. Returns undefined if they cancel each other out. */
  #joinChanges(earlier: ChangeRow, step: Step): Step | undefined {
    const before = this.#options.history.changes.getContentBefore(earlier, () => step.before?.content);
    const { path, after } = step;
    if (isSameContent(before, after?.content)) return undefined;
    if (before === undefined) return new Step({ path, kind: "add", before: undefined, after });
    return new Step({ path, kind: after ? "edit" : "delete", before: toContentWithInfo(before, path), after });
  }

  #notify(commit: Commit): void {
    for (const notify of this.#subscribers) this.#runSafely(() => notify(commit));
  }

  /** Logs errors instead of throwing: the commit is already stored. */
  #runSafely(work: () => void): void {
    try {
      work();
    } catch (error) {
      console.error("work after a commit failed", error);
    }
  }

  #forgetOldVersions(now: number): void {
    const { history, branches, limits, storage, record } = this.#options;
    const { retainDays, retainVersions } = limits;
    if (retainDays === 0 && retainVersions === 0) return;
    // A branch needs the versions it is merged with for as long as it exists.
    const needed = Math.min(
      ...branches.list().flatMap(({ at, base_version: base }) => [at, base]),
      Number.POSITIVE_INFINITY,
    );
    const cutoff = history.computeCutoff(
      retainDays === 0 ? undefined : now - retainDays * 86_400_000,
      retainVersions === 0 ? undefined : retainVersions,
    );
    const upTo = history.limitCutoff(Math.min(cutoff, needed), maxPrunedChanges);
    storage.transactionSync(() => {
      const versions = history.forget(upTo);
      if (versions > 0) record({ type: "files.pruned", data: { upTo, versions } });
    });
  }
}

/** Computes the patches before the transaction, which cannot pause. */
function* computePatches(steps: readonly Step[]): Work<void> {
  for (const step of steps)
    if (step.patch) yield 10 * (countTextUnits(step.before?.content) + countTextUnits(step.after?.content));
}

/** Computes the patch only if a subscriber reads it. */
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

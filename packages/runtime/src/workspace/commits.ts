import type { Change, CommitResult, FileContent, NewEvent, Origin, TextPatch, Version } from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import type { Batch } from "./batch.ts";
import type { Branches } from "./branches.ts";
import { isSame, known } from "./content.ts";
import type { FileRows, Totals } from "./file-rows.ts";
import type { SeenFiles } from "./seen-files.ts";
import { Step } from "./step.ts";
import type { ChangeRow, History } from "./history.ts";

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
  also?(): void;
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
  readonly #followers = new Set<(commit: Commit) => void>();
  readonly #totals = new Map<string, Totals>();
  /**
   * The latest version that somebody knows of: what it is stays as it is, and more of the same typing is another one.
   * Who knew of what in an earlier life is forgotten, so all of those stay.
   */
  #known: number;

  constructor(options: CommitsOptions) {
    this.#options = options;
    this.#known = options.history.last;
  }

  /** The latest version of all, which somebody is told of. */
  know(): number {
    this.#known = this.#options.history.last;
    return this.#known;
  }

  totals(branch: string): Totals {
    let totals = this.#totals.get(branch);
    if (!totals) {
      totals = this.#options.rows.totals(branch);
      this.#totals.set(branch, totals);
    }
    return totals;
  }

  follow(listener: (commit: Commit) => void): () => void {
    this.#followers.add(listener);
    return () => this.#followers.delete(listener);
  }

  /** A branch is gone. */
  drop(branch: string): void {
    this.#totals.delete(branch);
    this.#tell({ branch, version: 0, origin: { kind: "user" }, changes: [] });
  }

  /** All of it is stored, the event that tells of it too, or nothing is and nobody hears of it. */
  write(batch: Batch, origin: Origin, options: CommitOptions & { branch: string }): CommitResult {
    const { branch, key, also = () => {}, record = this.#options.record } = options;
    const { history, storage } = this.#options;
    const steps = batch.steps();
    const finish = () => {
      if (options.seen) this.#options.seen.follow(branch, steps);
      also();
    };
    if (steps.length === 0) {
      storage.transactionSync(finish);
      return { overlaps: [], patches: [] };
    }
    const totals = batch.check(steps, this.#options.limits, this.totals(branch));
    const now = Date.now();
    const typed = options.joins ? history.typed(branch, origin.user, now, this.#known) : undefined;
    const id = typed ?? history.last + 1;
    const version = storage.transactionSync(() => {
      if (typed === undefined) history.add({ id, branch, at: now, joins: options.joins ?? false, origin, key, reverts: options.reverts, merges: options.merges });
      else history.extend(id, now);
      // A file may have to leave its name before another one can have it.
      for (const step of [...steps].sort((a, b) => Number(a.after !== undefined) - Number(b.after !== undefined))) this.#step(id, branch, step, now, typed !== undefined);
      finish();
      const written = history.version(id) as Version;
      if (typed === undefined) record(changed(written));
      return written;
    });
    this.#totals.set(branch, totals);
    this.#tell({ branch, version: id, origin, changes: steps.map(changeOf) });
    if (typed === undefined && id % versionsBetweenCleanups === 0) this.#afterwards(() => this.#forgetOld(now));
    return { version, overlaps: [], patches: patchesOf(steps) };
  }

  /** Returns the result of an earlier commit with this key. */
  find(key: string): CommitResult | undefined {
    const { history } = this.#options;
    const version = history.byKey(key);
    return version && { version, overlaps: [], patches: patchesOf(history.changesOf(version.id)) };
  }

  /** What would become of it, and nothing else. */
  check(batch: Batch, branch: string): Change[] {
    const steps = batch.steps();
    batch.check(steps, this.#options.limits, this.totals(branch));
    return steps.flatMap(({ path, kind, other }) => (kind === "moved" ? [] : [{ path, kind, ...(other === undefined ? {} : { from: other }) }]));
  }

  #step(version: number, branch: string, step: Step, at: number, joins: boolean): void {
    const { rows, history } = this.#options;
    const { path, after } = step;
    // All that is done to a file in one version is one step on the way back to its older texts.
    const earlier = joins ? history.change(version, path) : undefined;
    const before = rows.patches(branch, path);
    const whole = !earlier && before >= maxPatchesBetweenCopies;
    if (earlier) history.noteAgain(earlier, this.#joined(earlier, step));
    else history.note(version, branch, step, whole);
    const patches = whole || typeof after?.content !== "string" ? 0 : before + (earlier ? 0 : 1);
    if (after) rows.put(branch, path, after.content, after.facts, { version, at, patches });
    else rows.remove(branch, path);
  }

  /** Two changes of a file in one version are one change. */
  #joined(earlier: ChangeRow, step: Step): Step | undefined {
    const before = this.#options.history.before(earlier, () => step.before?.content);
    const { path, after } = step;
    if (isSame(before, after?.content)) return undefined;
    if (before === undefined) return new Step({ path, kind: "add", before: undefined, after });
    return new Step({ path, kind: after ? "edit" : "delete", before: known(before, path), after });
  }

  #tell(commit: Commit): void {
    for (const follow of this.#followers) this.#afterwards(() => follow(commit));
  }

  /** What is written is written, whatever becomes of what follows from it. */
  #afterwards(work: () => void): void {
    try {
      work();
    } catch (error) {
      console.error("what follows from a commit failed", error);
    }
  }

  #forgetOld(now: number): void {
    const { history, branches, limits, storage, record } = this.#options;
    const { keepDays, keepVersions } = limits;
    if (keepDays === 0 && keepVersions === 0) return;
    // What a branch is to be merged with is needed for as long as the branch is there.
    const needed = Math.min(...branches.list().flatMap(({ at, base_version: base }) => [at, base]), Number.POSITIVE_INFINITY);
    const cutoff = history.cutoff(keepDays === 0 ? undefined : now - keepDays * 86_400_000, keepVersions === 0 ? undefined : keepVersions);
    const upTo = Math.min(cutoff, needed);
    storage.transactionSync(() => {
      const versions = history.forget(upTo);
      if (versions > 0) record({ type: "files.forgotten", data: { upTo, versions } });
    });
  }
}

/** The patch is computed only if a follower reads it. */
function changeOf(step: Step): CommittedChange {
  return {
    path: step.path,
    before: step.before?.content,
    after: step.after?.content,
    get patch() {
      return step.patch;
    },
  };
}

function patchesOf(changes: Iterable<{ path: string; patch: TextPatch | undefined }>): CommitResult["patches"] {
  return Array.from(changes).flatMap(({ path, patch }) => (patch ? [{ path, patch }] : []));
}

function changed({ id, origin, changes, more, reverts, merges }: Version): NewEvent {
  return {
    type: "files.changed",
    data: { version: id, origin, changes, ...(more ? { more } : {}), ...(reverts ? { reverts } : {}), ...(merges === undefined ? {} : { merges }) },
  };
}

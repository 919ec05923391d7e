import {
  type Branch,
  fail,
  type CommitResult,
  type FileContent,
  type FileEdit,
  type FileInfo,
  parseFilePath,
  parseFolderPath,
  mainBranch,
  type Merge,
  type MergeResponse,
  type NewBranch,
  type NewEvent,
  type Origin,
  type Revert,
  type Version,
  type VersionDiff,
  type VersionQuery,
} from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import { completeWork, type Work } from "../host/fair-work.ts";
import type { BlobSource } from "../store/blobs/blob-page.ts";
import { type Blobs } from "../store/blobs/blobs.ts";
import { Batch } from "./batch.ts";
import { BranchManager } from "./branch-manager.ts";
import type { BranchMerge, BranchMergeOptions, MergePreview } from "./branch-merge.ts";
import { BranchUsage } from "./branch-usage.ts";
import { Branches } from "./branches.ts";
import { type Commit, type CommitOptions, Commits } from "./commits.ts";
import { createVersionDiff } from "./diff.ts";
import { FileRows, type Totals } from "./file-rows.ts";
import { HistoryReader } from "./history-reader.ts";
import { History } from "./history.ts";
import { Merger, type RebaseOptions } from "./merger.ts";
import { SeenFiles } from "./seen-files.ts";
import { readContent, storeContent } from "./stored-content.ts";
import { findConflictPath } from "./three-way-merge.ts";
import { WriteGate } from "./write-gate.ts";

interface WorkspaceOptions {
  storage: DurableObjectStorage;
  blobs: Blobs;
  limits: WorkspaceLimits;
  /** Records events about files, unless a commit brings its own `record`. */
  record(event: NewEvent): void;
  /** Throws if the agent must not store so many more bytes in its database. */
  checkGrowth?(bytes: number): void;
  /** Returns the user whose files these are. */
  getOwner?(): string;
}

/** Smaller content is only checked when it is committed. */
const maxUncheckedBytes = 64 * 1024;

/** A branch, and optionally a version of it. */
export interface VersionRef {
  branch?: string | undefined;
  /** Defaults to the current files. */
  version?: number | undefined;
}

interface ListQuery extends VersionRef {
  under?: string | undefined;
  after?: string | undefined;
  limit?: number | undefined;
}

interface FileList {
  files: FileInfo[];
  version: number;
  next?: string;
}

interface Expectation {
  /** The hash each of these files must have; null if the file must not exist. */
  expected?: Record<string, string | null> | undefined;
}

/**
 * An agent's files and their complete history. Every change is a version with its origin, and `commit` is the only way
 * to create one.
 */
export class Workspace {
  readonly seen: SeenFiles;
  readonly branchUsage: BranchUsage;
  readonly writeGate: WriteGate;
  readonly #options: WorkspaceOptions;
  readonly #rows: FileRows;
  readonly #history: History;
  readonly #branches: Branches;
  readonly #historyReader: HistoryReader;
  readonly #commits: Commits;
  readonly #merger: Merger;
  readonly #branchManager: BranchManager;

  constructor(options: WorkspaceOptions) {
    const { sql } = options.storage;
    this.#options = options;
    this.#rows = new FileRows(sql);
    this.#history = new History(sql);
    this.#branches = new Branches(sql);
    this.#historyReader = new HistoryReader(this.#rows, this.#history, this.#branches);
    this.seen = new SeenFiles(sql);
    this.branchUsage = new BranchUsage(this.#rows);
    const stores = {
      branchUsage: this.branchUsage,
      seen: this.seen,
      rows: this.#rows,
      history: this.#history,
      branches: this.#branches,
      historyReader: this.#historyReader,
    };
    this.#commits = new Commits({ ...options, ...stores });
    this.#branchManager = new BranchManager({ ...options, ...stores, commits: this.#commits });
    this.#merger = new Merger({ ...stores, commits: this.#commits });
    this.writeGate = new WriteGate({ ...options, getRevision: () => this.#commits.revision });
  }

  /** Everything that refers to blobs: the current files of all branches, and the history. */
  get blobSources(): BlobSource[] {
    return [this.#rows, this.#history.changes];
  }

  get limits(): WorkspaceLimits {
    return this.#options.limits;
  }

  list({ branch, version, under, after, limit }: ListQuery = {}): FileList {
    const name = this.#requireBranch(branch);
    const folder = under === undefined ? undefined : parseFolderPath(under);
    const page = { ...(folder === undefined ? {} : { under: folder }), ...(after === undefined ? {} : { after }) };
    // One more than requested, to see if there is a next page.
    const pageLimit = limit === undefined ? {} : { limit: limit + 1 };
    const found =
      version === undefined
        ? this.#rows.list(name, { ...page, ...pageLimit })
        : this.#historyReader.list(name, version, { ...page, ...pageLimit });
    const files = limit === undefined ? found : found.slice(0, limit);
    const next = files.length < found.length ? files.at(-1)?.path : undefined;
    return { files, version: version ?? this.latest(name), ...(next === undefined ? {} : { next }) };
  }

  /** Like `list`, as work that can pause: an earlier version takes longer. */
  *planList(query: ListQuery): Work<FileList> {
    if (query.version !== undefined) yield units.listed * this.getTotals(query.branch).files;
    return this.list(query);
  }

  stat(path: string, { branch, version }: VersionRef = {}): FileInfo | undefined {
    const name = this.#requireBranch(branch);
    return version === undefined
      ? this.#rows.stat(name, parseFilePath(path))
      : this.#historyReader.stat(name, parseFilePath(path), version);
  }

  getContent(path: string, { branch, version }: VersionRef = {}): FileContent | undefined {
    const name = this.#requireBranch(branch);
    return version === undefined
      ? this.#rows.getContent(name, parseFilePath(path))
      : this.#historyReader.getContent(name, parseFilePath(path), version);
  }

  async readFile(path: string, at?: VersionRef): Promise<Uint8Array | undefined> {
    const content = this.getContent(path, at);
    return content === undefined ? undefined : this.readBytes(content, path);
  }

  readBytes(content: FileContent, path: string): Promise<Uint8Array> {
    return readContent(content, path, this.#options.blobs);
  }

  /** Yields the files of a branch with their content, one at a time. */
  iterateContents(branch?: string): Iterable<{ path: string; content: FileContent; info: FileInfo }> {
    return this.#rows.iterateContents(this.#requireBranch(branch));
  }

  getTotals(branch?: string): Totals {
    return this.#commits.getTotals(this.#requireBranch(branch));
  }

  /** Subscribes to the commits of all branches; returns an unsubscribe function. */
  subscribe(listener: (commit: Commit) => void): () => void {
    return this.#commits.subscribe(listener);
  }

  /** Returns the latest version of a branch; 0 if nothing was ever written. */
  latest(branch?: string): number {
    this.#commits.markLatestKnown();
    return this.#historyReader.getLatest(this.#requireBranch(branch));
  }

  /** Lists the files of a branch that changed after a version. Returns undefined if that is no longer known. */
  listChangedSince(version: number, branch?: string): string[] | undefined {
    return this.#historyReader.listChangedSince(this.#requireBranch(branch), version);
  }

  /** Stores content for a commit: text small enough for live editing as text, everything else as a blob. */
  store(content: string | Uint8Array, path: string): FileContent | Promise<FileContent> {
    if (content.length > maxUncheckedBytes) this.#checkRoom(content.length, path);
    return storeContent(content, path, this.#options);
  }

  /** Does work that may take long, see `WriteGate`. */
  runFairly<T>(start: () => Work<T>): Promise<T> {
    return this.writeGate.runFairly(start);
  }

  /** Commits all edits or none, as one version. Creates no version if nothing changed. */
  commit(edits: readonly FileEdit[], origin: Origin, options: CommitOptions & Expectation = {}): CommitResult {
    return completeWork(this.planCommit(edits, origin, options));
  }

  /** Like `commit`, as work that can pause. */
  *planCommit(
    edits: readonly FileEdit[],
    origin: Origin,
    { expected, ...options }: CommitOptions & Expectation = {},
  ): Work<CommitResult> {
    const branch = this.#requireBranch(options.branch);
    const settled = this.#findSettledResult(branch, options.key, expected);
    if (settled) return settled;
    const batch = new Batch(this.#rows, branch);
    for (const edit of edits) yield* batch.add(edit);
    return yield* this.#commits.write(batch, origin, { ...options, branch });
  }

  /** Commits edits that were made on an earlier version, merging them with what others have changed since. */
  *planRebase(
    edits: readonly FileEdit[],
    base: number,
    origin: Origin,
    options: RebaseOptions & Pick<CommitOptions, "branch"> & Expectation = {},
  ): Work<CommitResult> {
    const { branch, expected, ...rest } = options;
    const name = this.#requireBranch(branch);
    return (
      this.#findSettledResult(name, rest.key, expected) ??
      (yield* this.#merger.rebaseEdits(edits, base, origin, name, rest))
    );
  }

  /** Returns the result of a commit that was already made, or that cannot be made because a file is stale. */
  #findSettledResult(branch: string, key?: string, expected: Expectation["expected"] = {}): CommitResult | undefined {
    const earlier = key === undefined ? undefined : this.#commits.find(key);
    if (earlier) return earlier;
    const stale = Object.keys(expected).find(
      (path) => (this.#rows.stat(branch, parseFilePath(path))?.hash ?? null) !== expected[path],
    );
    return stale === undefined ? undefined : { stale, overlaps: [], patches: [] };
  }

  /** Returns the result of an earlier commit with this key. */
  findCommit(key: string): CommitResult | undefined {
    return this.#commits.find(key);
  }

  /** Finds a free path next to this one for a conflict copy. */
  findConflictPath(path: string, label: string, branch?: string): string {
    const batch = new Batch(this.#rows, this.#requireBranch(branch));
    return findConflictPath(parseFilePath(path), label, (candidate) => batch.isFree(candidate));
  }

  listVersions(query: VersionQuery): { versions: Version[]; next?: number; oldest?: number } {
    const { path, ...rest } = query;
    const folder = path === undefined ? undefined : parseFolderPath(path);
    const found = this.#history.list({
      ...rest,
      ...(folder === undefined ? {} : { path: folder }),
      branch: this.#requireBranch(query.branch),
      limit: query.limit + 1,
    });
    const versions = found.slice(0, query.limit);
    const next = versions.length < found.length ? versions.at(-1)?.id : undefined;
    const oldest = this.#history.getOldest();
    this.#commits.markLatestKnown();
    return { versions, ...(next === undefined ? {} : { next }), ...(oldest > 1 ? { oldest } : {}) };
  }

  *planDiff(id: number, path?: string): Work<VersionDiff> {
    const version = this.#requireVersion(id);
    const rows = this.#history.changes.iterate(id, path === undefined ? undefined : parseFolderPath(path));
    return yield* createVersionDiff(version, rows, {
      changes: this.#history.changes,
      getCurrent: ({ branch, path }) => this.#rows.getContent(branch, path),
    });
  }

  /** Reverts a version, a turn or a tool call. Later changes by others are kept. */
  *planRevert(
    { version, turn, toolCall, branch, dryRun }: Revert,
    origin: Origin,
    { record }: Pick<CommitOptions, "record"> = {},
  ): Work<MergeResponse> {
    const name = (version !== undefined && this.#history.getBranch(version)) || this.#requireBranch(branch);
    const ids = version === undefined ? this.#findVersionIds(name, turn, toolCall) : [this.#requireVersion(version).id];
    return yield* this.#merger.revert(ids, name, origin, { dryRun, ...(record ? { record } : {}) });
  }

  listBranches(): Branch[] {
    return this.#branchManager.list();
  }

  *planBranch({ from, ...options }: NewBranch, origin: Origin): Work<Branch> {
    return yield* this.#branchManager.create({ ...options, from: this.#requireBranch(from) }, origin);
  }

  *planBranchRemoval(name: string, origin: Origin): Work<void> {
    yield* this.#branchManager.remove(this.#requireBranch(name), origin);
  }

  /** Merges a branch into its parent, or its parent into it. */
  *planMerge(
    name: string,
    { into, ...options }: BranchMergeOptions & Pick<Merge, "into">,
    origin: Origin,
  ): Work<BranchMerge> {
    const { source, target } = this.#resolveMerge(name, into);
    return yield* this.#merger.merge(source, target, origin, options);
  }

  /** Returns what a merge would change, with the content. */
  *planPreview(name: string, into?: string): Work<MergePreview> {
    const { source, target } = this.#resolveMerge(name, into);
    return yield* this.#merger.preview(source, target);
  }

  #resolveMerge(name: string, into: string | undefined): { source: string; target: string } {
    const source = this.#requireBranch(name);
    const parent = this.#branches.get(source)?.parent;
    if (into === undefined && parent === undefined) throw fail("bad_request", "Name the branch to merge main into.");
    // The version both have in common from now on must not be extended.
    this.#commits.markLatestKnown();
    return { source, target: this.#requireBranch(into ?? parent) };
  }

  /** Refuses content that no commit could accept, because a refused blob takes space until it is collected. */
  #checkRoom(size: number, path: string): void {
    const branches = [mainBranch, ...this.#branches.list().map(({ name }) => name)];
    const replaced = Math.max(...branches.map((name) => this.#rows.stat(name, parseFilePath(path))?.size ?? 0));
    const { maxTotalMb } = this.limits;
    const used = this.getTotals().bytes + this.branchUsage.getTotals().bytes;
    if (used - replaced + size > maxTotalMb * 1024 * 1024 && size > replaced)
      throw fail(
        "too_large",
        `“${path}” does not fit: the files of a workspace and its branches can have at most ${maxTotalMb} MB in total. Delete files and branches you no longer need.`,
      );
  }

  #findVersionIds(branch: string, turn: string | undefined, toolCall: string | undefined): number[] {
    const ids = this.#history.listIds({ branch, turn, toolCall });
    if (ids.length === 0)
      throw fail("not_found", turn === undefined ? "That tool call changed no files." : "That turn changed no files.");
    return ids;
  }

  #requireVersion(id: number): Version {
    const version = this.#history.getVersion(id);
    if (version) return version;
    const isPruned = id > 0 && id < this.#history.getOldest();
    throw fail("not_found", isPruned ? `Version ${id} is no longer available.` : `There is no version ${id}.`);
  }

  #requireBranch(name: string = mainBranch): string {
    if (name !== mainBranch && !this.#branches.get(name)) throw fail("not_found", `There is no branch “${name}”.`);
    return name;
  }
}

/** Units of work. */
const units = { listed: 15 };

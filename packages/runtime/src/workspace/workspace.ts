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
import { type Blobs } from "../store/blobs/blobs.ts";
import { Batch } from "./batch.ts";
import { BranchManager } from "./branch-manager.ts";
import { Branches } from "./branches.ts";
import { type Commit, type CommitOptions, Commits } from "./commits.ts";
import { createVersionDiff } from "./diff.ts";
import { FileRows, type Totals } from "./file-rows.ts";
import { HistoryReader } from "./history-reader.ts";
import { History } from "./history.ts";
import { type RebaseOptions, Merger } from "./merger.ts";
import { SeenFiles } from "./seen-files.ts";
import { readContent, storeContent } from "./stored-content.ts";
import { findConflictPath } from "./three-way-merge.ts";

interface WorkspaceOptions {
  storage: DurableObjectStorage;
  blobs: Blobs;
  limits: WorkspaceLimits;
  /** Where facts about files go, if whoever makes the change has no place for them. */
  record(event: NewEvent): void;
}

/** Where and when. */
export interface VersionRef {
  branch?: string | undefined;
  /** As of this version; now, where it is not given. */
  version?: number | undefined;
}

interface Expectation {
  /** The hash that each of these files must have; null if there must be none. */
  expected?: Record<string, string | null> | undefined;
}

/**
 * An agent's files, and everything they ever were. Every change is one version with its origin, and there is one way to
 * make one: `commit`.
 */
export class Workspace {
  readonly seen: SeenFiles;
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
    const stores = {
      seen: this.seen,
      rows: this.#rows,
      history: this.#history,
      branches: this.#branches,
      past: this.#historyReader,
    };
    this.#commits = new Commits({ ...options, ...stores });
    this.#branchManager = new BranchManager({ ...options, ...stores, commits: this.#commits });
    this.#merger = new Merger({ ...stores, commits: this.#commits });
  }

  get limits(): WorkspaceLimits {
    return this.#options.limits;
  }

  list({
    branch,
    version,
    under,
    after,
    limit,
  }: VersionRef & { under?: string | undefined; after?: string | undefined; limit?: number | undefined } = {}): {
    files: FileInfo[];
    version: number;
    next?: string;
  } {
    const name = this.#requireBranch(branch);
    const folder = under === undefined ? undefined : parseFolderPath(under);
    const page = { ...(folder === undefined ? {} : { under: folder }), ...(after === undefined ? {} : { after }) };
    const pageLimit = limit === undefined ? {} : { limit: limit + 1 };
    const found =
      version === undefined
        ? this.#rows.list(name, { ...page, ...pageLimit })
        : this.#historyReader.list(name, version, page).slice(0, limit === undefined ? undefined : limit + 1);
    const files = limit === undefined ? found : found.slice(0, limit);
    const next = files.length < found.length ? files.at(-1)?.path : undefined;
    return { files, version: version ?? this.latest(name), ...(next === undefined ? {} : { next }) };
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

  /** All of a branch with what is in them, one at a time. */
  iterateContents(branch?: string): Iterable<{ path: string; content: FileContent; info: FileInfo }> {
    return this.#rows.iterateContents(this.#requireBranch(branch));
  }

  getTotals(branch?: string): Totals {
    return this.#commits.getTotals(this.#requireBranch(branch));
  }

  /** Is told of every commit, on every branch, as soon as it is made. Answers how to stop that. */
  subscribe(listener: (commit: Commit) => void): () => void {
    return this.#commits.subscribe(listener);
  }

  /** The latest version of a branch; 0 while nothing was ever written. */
  latest(branch?: string): number {
    this.#commits.markLatestKnown();
    return this.#historyReader.getLatest(this.#requireBranch(branch));
  }

  /** Which files of a branch are other than they were at a version; nothing where that is not known any more. */
  listChangedSince(version: number, branch?: string): string[] | undefined {
    return this.#historyReader.listChangedSince(this.#requireBranch(branch), version);
  }

  /** Content as it is kept: text that can be edited together as text, everything else as a blob. */
  store(content: string | Uint8Array, path: string): FileContent | Promise<FileContent> {
    return storeContent(content, path, this.#options);
  }

  /** Commits all edits or none, as one version; there is no version if nothing changed. */
  commit(
    edits: readonly FileEdit[],
    origin: Origin,
    { expected, ...options }: CommitOptions & Expectation = {},
  ): CommitResult {
    const branch = this.#requireBranch(options.branch);
    const settled = this.#findSettledResult(branch, options.key, expected);
    if (settled) return settled;
    const batch = new Batch(this.#rows, branch);
    for (const edit of edits) batch.add(edit);
    return this.#commits.write(batch, origin, { ...options, branch });
  }

  /** Edits that were made on the files as they were at a version: what others have changed since then survives. */
  rebaseEdits(
    edits: readonly FileEdit[],
    base: number,
    origin: Origin,
    options: RebaseOptions & Pick<CommitOptions, "branch"> & Expectation = {},
  ): CommitResult {
    const { branch, expected, ...rest } = options;
    const name = this.#requireBranch(branch);
    return (
      this.#findSettledResult(name, rest.key, expected) ?? this.#merger.rebaseEdits(edits, base, origin, name, rest)
    );
  }

  /** Returns the result of a commit that was made before, or that must not be made on these files. */
  #findSettledResult(
    branch: string,
    key: string | undefined,
    expected: Expectation["expected"] = {},
  ): CommitResult | undefined {
    const made = key === undefined ? undefined : this.#commits.find(key);
    if (made) return made;
    const stale = Object.keys(expected).find(
      (path) => (this.#rows.stat(branch, parseFilePath(path))?.hash ?? null) !== expected[path],
    );
    return stale === undefined ? undefined : { stale, overlaps: [], patches: [] };
  }

  /** A free path beside another, for what cannot be there too. */
  findConflictPath(path: string, word: string, branch?: string): string {
    const batch = new Batch(this.#rows, this.#requireBranch(branch));
    return findConflictPath(parseFilePath(path), word, (candidate) => batch.isFree(candidate));
  }

  listVersions(query: VersionQuery): { versions: Version[]; next?: number; oldest?: number } {
    const { path, ...rest } = query;
    const place = path === undefined ? undefined : parseFolderPath(path);
    const found = this.#history.list({
      ...rest,
      ...(place === undefined ? {} : { path: place }),
      branch: this.#requireBranch(query.branch),
      limit: query.limit + 1,
    });
    const versions = found.slice(0, query.limit);
    const next = versions.length < found.length ? versions.at(-1)?.id : undefined;
    const oldest = this.#history.getOldest();
    this.#commits.markLatestKnown();
    return { versions, ...(next === undefined ? {} : { next }), ...(oldest > 1 ? { oldest } : {}) };
  }

  diff(id: number, path?: string): VersionDiff {
    const version = this.#requireVersion(id);
    const rows = this.#history.listChanges(id, path === undefined ? undefined : parseFolderPath(path));
    const now = (row: { branch: string; path: string }) => () => this.#rows.getContent(row.branch, row.path);
    return createVersionDiff(
      version,
      rows
        .filter(({ kind }) => kind !== "moved")
        .map((row) => ({
          row,
          before: () =>
            row.kind === "move"
              ? this.#history.getContentAfter(row, now(row))
              : this.#history.getContentBefore(row, now(row)),
          after: () => this.#history.getContentAfter(row, now(row)),
        })),
    );
  }

  /** Takes back what a version, a turn or a tool call did. What others did since then survives. */
  revert(
    { version, turn, toolCall, branch, dryRun }: Revert,
    origin: Origin,
    options: Pick<CommitOptions, "record"> = {},
  ): MergeResponse {
    const name = (version !== undefined && this.#history.getBranch(version)) || this.#requireBranch(branch);
    const ids = version === undefined ? this.#findVersionIds(name, turn, toolCall) : [this.#requireVersion(version).id];
    return this.#merger.revert(ids, name, origin, { dryRun, ...pickRecord(options) });
  }

  listBranches(): Branch[] {
    return this.#branchManager.list();
  }

  createBranch({ from, ...order }: NewBranch, origin: Origin): Branch {
    return this.#branchManager.create({ ...order, from: this.#requireBranch(from) }, origin);
  }

  removeBranch(name: string, origin: Origin): void {
    this.#branchManager.remove(this.#requireBranch(name), origin);
  }

  /** Brings what was done on a branch to the one it came from, or the other way round. */
  merge(
    name: string,
    { into, dryRun }: Merge,
    origin: Origin,
    options: Pick<CommitOptions, "record"> = {},
  ): MergeResponse {
    const source = this.#requireBranch(name);
    const parent = this.#branches.get(source)?.parent;
    if (into === undefined && parent === undefined)
      throw fail("bad_request", "Say which branch main is to be merged into.");
    // What both have in common from now on stays as it is.
    this.#commits.markLatestKnown();
    return this.#merger.merge(source, this.#requireBranch(into ?? parent), origin, { dryRun, ...pickRecord(options) });
  }

  #findVersionIds(branch: string, turn: string | undefined, toolCall: string | undefined): number[] {
    const found = this.#history.list({
      branch,
      limit: 10_000,
      ...(turn === undefined ? {} : { turn }),
      ...(toolCall === undefined ? {} : { toolCall }),
    });
    if (found.length === 0)
      throw fail(
        "not_found",
        turn === undefined ? "That call has changed no files." : "That turn has changed no files.",
      );
    return found.map(({ id }) => id);
  }

  #requireVersion(id: number): Version {
    const version = this.#history.getVersion(id);
    if (version) return version;
    const isForgotten = id > 0 && id < this.#history.getOldest();
    throw fail("not_found", isForgotten ? `Version ${id} is not kept any more.` : `There is no version ${id}.`);
  }

  #requireBranch(name: string = mainBranch): string {
    if (name !== mainBranch && !this.#branches.get(name)) throw fail("not_found", `There is no branch “${name}”.`);
    return name;
  }
}

const pickRecord = ({ record }: Pick<CommitOptions, "record">) => (record ? { record } : {});

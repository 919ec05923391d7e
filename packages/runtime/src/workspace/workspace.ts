import {
  type Branch,
  fail,
  type CommitResult,
  type FileContent,
  type FileEdit,
  type FileInfo,
  filePath,
  folderPath,
  mainBranch,
  type Merge,
  type Merged,
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
import { Branches } from "./branches.ts";
import { Branching } from "./branching.ts";
import { type Commit, type CommitOptions, Commits } from "./commits.ts";
import { diffOf } from "./diff.ts";
import { FileRows, type Totals } from "./file-rows.ts";
import { History } from "./history.ts";
import { type LandOptions, Merging } from "./merging.ts";
import { Past } from "./past.ts";
import { SeenFiles } from "./seen-files.ts";
import { readContent, storeContent } from "./stored-content.ts";
import { besidePath } from "./three-way.ts";

interface WorkspaceOptions {
  storage: DurableObjectStorage;
  blobs: Blobs;
  limits: WorkspaceLimits;
  /** Where facts about files go, if whoever makes the change has no place for them. */
  record(event: NewEvent): void;
}

/** Where and when. */
export interface At {
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
  readonly #past: Past;
  readonly #commits: Commits;
  readonly #merging: Merging;
  readonly #branching: Branching;

  constructor(options: WorkspaceOptions) {
    const { sql } = options.storage;
    this.#options = options;
    this.#rows = new FileRows(sql);
    this.#history = new History(sql);
    this.#branches = new Branches(sql);
    this.#past = new Past(this.#rows, this.#history, this.#branches);
    this.seen = new SeenFiles(sql);
    const rooms = { seen: this.seen, rows: this.#rows, history: this.#history, branches: this.#branches, past: this.#past };
    this.#commits = new Commits({ ...options, ...rooms });
    this.#branching = new Branching({ ...options, ...rooms, commits: this.#commits });
    this.#merging = new Merging({ ...rooms, commits: this.#commits });
  }

  get limits(): WorkspaceLimits {
    return this.#options.limits;
  }

  list({ branch, version, under, after, limit }: At & { under?: string | undefined; after?: string | undefined; limit?: number | undefined } = {}): {
    files: FileInfo[];
    version: number;
    next?: string;
  } {
    const name = this.#branch(branch);
    const folder = under === undefined ? undefined : folderPath(under);
    const page = { ...(folder === undefined ? {} : { under: folder }), ...(after === undefined ? {} : { after }) };
    const pageLimit = limit === undefined ? {} : { limit: limit + 1 };
    const found = version === undefined ? this.#rows.list(name, { ...page, ...pageLimit }) : this.#past.list(name, version, page).slice(0, limit === undefined ? undefined : limit + 1);
    const files = limit === undefined ? found : found.slice(0, limit);
    const next = files.length < found.length ? files.at(-1)?.path : undefined;
    return { files, version: version ?? this.latest(name), ...(next === undefined ? {} : { next }) };
  }

  stat(path: string, { branch, version }: At = {}): FileInfo | undefined {
    const name = this.#branch(branch);
    return version === undefined ? this.#rows.stat(name, filePath(path)) : this.#past.stat(name, filePath(path), version);
  }

  content(path: string, { branch, version }: At = {}): FileContent | undefined {
    const name = this.#branch(branch);
    return version === undefined ? this.#rows.content(name, filePath(path)) : this.#past.content(name, filePath(path), version);
  }

  async bytes(path: string, at?: At): Promise<Uint8Array | undefined> {
    const content = this.content(path, at);
    return content === undefined ? undefined : this.readBytes(content, path);
  }

  readBytes(content: FileContent, path: string): Promise<Uint8Array> {
    return readContent(content, path, this.#options.blobs);
  }

  /** All of a branch with what is in them, one at a time. */
  contents(branch?: string): Iterable<{ path: string; content: FileContent; info: FileInfo }> {
    return this.#rows.contents(this.#branch(branch));
  }

  totals(branch?: string): Totals {
    return this.#commits.totals(this.#branch(branch));
  }

  /** Is told of every commit, on every branch, as soon as it is made. Answers how to stop that. */
  follow(listener: (commit: Commit) => void): () => void {
    return this.#commits.follow(listener);
  }

  /** The latest version of a branch; 0 while nothing was ever written. */
  latest(branch?: string): number {
    this.#commits.know();
    return this.#past.latest(this.#branch(branch));
  }

  /** Which files of a branch are other than they were at a version; nothing where that is not known any more. */
  changedSince(version: number, branch?: string): string[] | undefined {
    return this.#past.changedSince(this.#branch(branch), version);
  }

  /** Content as it is kept: text that can be edited together as text, everything else as a blob. */
  keep(content: string | Uint8Array, path: string): FileContent | Promise<FileContent> {
    return storeContent(content, path, this.#options);
  }

  /** Commits all edits or none, as one version; there is no version if nothing changed. */
  commit(edits: readonly FileEdit[], origin: Origin, { expected, ...options }: CommitOptions & Expectation = {}): CommitResult {
    const branch = this.#branch(options.branch);
    const settled = this.#settled(branch, options.key, expected);
    if (settled) return settled;
    const batch = new Batch(this.#rows, branch);
    for (const edit of edits) batch.add(edit);
    return this.#commits.write(batch, origin, { ...options, branch });
  }

  /** Edits that were made on the files as they were at a version: what others have changed since then survives. */
  land(edits: readonly FileEdit[], base: number, origin: Origin, options: LandOptions & Pick<CommitOptions, "branch"> & Expectation = {}): CommitResult {
    const { branch, expected, ...rest } = options;
    const name = this.#branch(branch);
    return this.#settled(name, rest.key, expected) ?? this.#merging.land(edits, base, origin, name, rest);
  }

  /** Returns the result of a commit that was made before, or that must not be made on these files. */
  #settled(branch: string, key: string | undefined, expected: Expectation["expected"] = {}): CommitResult | undefined {
    const made = key === undefined ? undefined : this.#commits.find(key);
    if (made) return made;
    const stale = Object.keys(expected).find((path) => (this.#rows.stat(branch, filePath(path))?.hash ?? null) !== expected[path]);
    return stale === undefined ? undefined : { stale, overlaps: [], patches: [] };
  }

  /** A free path beside another, for what cannot be there too. */
  beside(path: string, word: string, branch?: string): string {
    const batch = new Batch(this.#rows, this.#branch(branch));
    return besidePath(filePath(path), word, (candidate) => batch.isFree(candidate));
  }

  versions(query: VersionQuery): { versions: Version[]; next?: number; oldest?: number } {
    const { path, ...rest } = query;
    const place = path === undefined ? undefined : folderPath(path);
    const found = this.#history.list({ ...rest, ...(place === undefined ? {} : { path: place }), branch: this.#branch(query.branch), limit: query.limit + 1 });
    const versions = found.slice(0, query.limit);
    const next = versions.length < found.length ? versions.at(-1)?.id : undefined;
    const oldest = this.#history.oldest();
    this.#commits.know();
    return { versions, ...(next === undefined ? {} : { next }), ...(oldest > 1 ? { oldest } : {}) };
  }

  diff(id: number, path?: string): VersionDiff {
    const version = this.#version(id);
    const rows = this.#history.changesOf(id, path === undefined ? undefined : folderPath(path));
    const now = (row: { branch: string; path: string }) => () => this.#rows.content(row.branch, row.path);
    return diffOf(
      version,
      rows.filter(({ kind }) => kind !== "moved").map((row) => ({
        row,
        before: () => (row.kind === "move" ? this.#history.after(row, now(row)) : this.#history.before(row, now(row))),
        after: () => this.#history.after(row, now(row)),
      })),
    );
  }

  /** Takes back what a version, a turn or a tool call did. What others did since then survives. */
  revert({ version, turn, toolCall, branch, dryRun }: Revert, origin: Origin, options: Pick<CommitOptions, "record"> = {}): Merged {
    const name = (version !== undefined && this.#history.branchOf(version)) || this.#branch(branch);
    const ids = version === undefined ? this.#idsOf(name, turn, toolCall) : [this.#version(version).id];
    return this.#merging.revert(ids, name, origin, { dryRun, ...recordOf(options) });
  }

  branches(): Branch[] {
    return this.#branching.list();
  }

  createBranch({ from, ...order }: NewBranch, origin: Origin): Branch {
    return this.#branching.create({ ...order, from: this.#branch(from) }, origin);
  }

  removeBranch(name: string, origin: Origin): void {
    this.#branching.remove(this.#branch(name), origin);
  }

  /** Brings what was done on a branch to the one it came from, or the other way round. */
  merge(name: string, { into, dryRun }: Merge, origin: Origin, options: Pick<CommitOptions, "record"> = {}): Merged {
    const source = this.#branch(name);
    const parent = this.#branches.get(source)?.parent;
    if (into === undefined && parent === undefined) throw fail("bad_request", "Say which branch main is to be merged into.");
    // What both have in common from now on stays as it is.
    this.#commits.know();
    return this.#merging.merge(source, this.#branch(into ?? parent), origin, { dryRun, ...recordOf(options) });
  }

  #idsOf(branch: string, turn: string | undefined, toolCall: string | undefined): number[] {
    const found = this.#history.list({ branch, limit: 10_000, ...(turn === undefined ? {} : { turn }), ...(toolCall === undefined ? {} : { toolCall }) });
    if (found.length === 0) throw fail("not_found", turn === undefined ? "That call has changed no files." : "That turn has changed no files.");
    return found.map(({ id }) => id);
  }

  #version(id: number): Version {
    const version = this.#history.version(id);
    if (version) return version;
    const isForgotten = id > 0 && id < this.#history.oldest();
    throw fail("not_found", isForgotten ? `Version ${id} is not kept any more.` : `There is no version ${id}.`);
  }

  #branch(name: string = mainBranch): string {
    if (name !== mainBranch && !this.#branches.get(name)) throw fail("not_found", `There is no branch “${name}”.`);
    return name;
  }
}

const recordOf = ({ record }: Pick<CommitOptions, "record">) => (record ? { record } : {});

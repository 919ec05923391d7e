import { type Branch, fail, mainBranch, type NewBranch, type NewEvent, type Origin } from "@thinkery/sdk";
import type { Branches, BranchRow } from "./branches.ts";
import type { Commits } from "./commits.ts";
import { getContentInfo } from "./content.ts";
import type { FileRows } from "./file-rows.ts";
import type { HistoryReader } from "./history-reader.ts";
import type { History } from "./history.ts";

const maxBranches = 100;

interface BranchManagerOptions {
  storage: DurableObjectStorage;
  rows: FileRows;
  history: History;
  branches: Branches;
  past: HistoryReader;
  commits: Commits;
  record(event: NewEvent): void;
}

/** Files that go their own way: how they begin, and how they end. */
export class BranchManager {
  readonly #options: BranchManagerOptions;

  constructor(options: BranchManagerOptions) {
    this.#options = options;
  }

  list(): Branch[] {
    return this.#options.branches.list().map((row) => this.#toBranch(row));
  }

  create({ name, from, version, event }: NewBranch & { from: string }, origin: Origin): Branch {
    const { storage, rows, history, branches, past, commits } = this.#options;
    const id = name ?? branches.findFreeName();
    if (id === mainBranch || branches.get(id)) throw fail("conflict", `There is a branch “${id}” already.`);
    if (branches.list().length >= maxBranches)
      throw fail("too_large", `A workspace may have ${maxBranches} branches. Remove one that is not needed.`);
    const last = commits.markLatestKnown();
    const at = event === undefined ? (version ?? last) : this.#findVersionAtEvent(event, from);
    past.checkKept(at);
    // Of a branch that has not changed yet it is made all the same, and is merged there again.
    const parent = at === branches.get(from)?.at ? from : past.resolveBranch(from, at);
    return storage.transactionSync(() => {
      branches.add({ name: id, parent, at, origin, now: Date.now() });
      rows.copy(parent, id);
      for (const path of history.listChangedSince(parent, at)) this.#restoreFile(id, path, parent, at);
      return this.#toBranch(branches.get(id) as BranchRow);
    });
  }

  /** Its files and its history are gone, and the log says so. What of it was merged stays where it was brought to. */
  remove(name: string, origin: Origin): void {
    const { storage, rows, history, branches, commits, record } = this.#options;
    if (name === mainBranch) throw fail("conflict", "The branch “main” is what the others come from, and stays.");
    const child = branches.list().find(({ parent }) => parent === name);
    if (child) throw fail("conflict", `The branch “${child.name}” comes from it. Remove that one first.`);
    storage.transactionSync(() => {
      const [upTo, versions] = [history.getLatest(name), history.countAfter(name, 0)];
      branches.remove(name);
      rows.removeAll(name);
      history.forgetBranch(name);
      if (versions > 0) record({ type: "files.pruned", data: { upTo, versions, branch: name, by: origin } });
    });
    commits.dropBranch(name);
  }

  /** The last version that an event, or one before it, tells of; where the branch was not there yet, of what it was made from. */
  #findVersionAtEvent(event: number, branch: string): number {
    const { history, branches } = this.#options;
    const own = history.findVersionAtEvent(event, branch);
    const row = branches.get(branch);
    return own > 0 || !row ? own : Math.min(row.at, this.#findVersionAtEvent(event, row.parent));
  }

  #toBranch(row: BranchRow): Branch {
    const {
      name,
      parent,
      at,
      created_at: createdAt,
      merged_at: mergedAt,
      base_branch: baseBranch,
      base_version: base,
      origin,
    } = row;
    return {
      id: name,
      from: parent,
      at,
      createdAt: new Date(createdAt).toISOString(),
      by: JSON.parse(origin) as Origin,
      ...(mergedAt === null ? {} : { mergedAt: new Date(mergedAt).toISOString() }),
      changed: this.#options.history.countAfter(name, baseBranch === name ? base : at),
    };
  }

  #restoreFile(branch: string, path: string, parent: string, version: number): void {
    const content = this.#options.past.getContent(parent, path, version);
    if (content === undefined) return this.#options.rows.remove(branch, path);
    this.#options.rows.put(branch, path, content, getContentInfo(content, path), {
      version,
      at: Date.now(),
      patches: 0,
    });
  }
}

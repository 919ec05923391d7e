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
  historyReader: HistoryReader;
  commits: Commits;
  record(event: NewEvent): void;
}

/** Lists, creates and removes branches. */
export class BranchManager {
  readonly #options: BranchManagerOptions;

  constructor(options: BranchManagerOptions) {
    this.#options = options;
  }

  list(): Branch[] {
    return this.#options.branches.list().map((row) => this.#toBranch(row));
  }

  create({ name, from, version, event }: NewBranch & { from: string }, origin: Origin): Branch {
    const { storage, rows, history, branches, historyReader, commits } = this.#options;
    const id = name ?? branches.findFreeName();
    if (id === mainBranch || branches.get(id)) throw fail("conflict", `A branch named “${id}” already exists.`);
    if (branches.list().length >= maxBranches)
      throw fail("too_large", `A workspace can have at most ${maxBranches} branches. Remove one you no longer need.`);
    const last = commits.markLatestKnown();
    const at = event === undefined ? (version ?? last) : this.#findVersionAtEvent(event, from);
    historyReader.checkAvailable(at);
    // A branch without changes of its own can still be the parent, so that the new one is merged back into it.
    const parent = at === branches.get(from)?.at ? from : historyReader.resolveBranch(from, at);
    return storage.transactionSync(() => {
      branches.add({ name: id, parent, at, origin, now: Date.now() });
      rows.copy(parent, id);
      for (const path of history.changes.listPathsSince(parent, at)) this.#restoreFile(id, path, parent, at);
      return this.#toBranch(branches.get(id) as BranchRow);
    });
  }

  /** Deletes a branch with its files and history, and records that. Merged changes stay where they were merged into. */
  remove(name: string, origin: Origin): void {
    const { storage, rows, history, branches, commits, record } = this.#options;
    if (name === mainBranch) throw fail("conflict", "The branch “main” cannot be removed.");
    const child = branches.list().find(({ parent }) => parent === name);
    if (child)
      throw fail(
        "conflict",
        `Cannot remove “${name}”: the branch “${child.name}” was created from it. Remove that one first.`,
      );
    storage.transactionSync(() => {
      const [upTo, versions] = [history.getLatest(name), history.countAfter(name, 0)];
      branches.remove(name);
      rows.removeAll(name);
      history.forgetBranch(name);
      if (versions > 0) record({ type: "files.pruned", data: { upTo, versions, branch: name, by: origin } });
    });
    commits.dropBranch(name);
  }

  /** Finds the last version recorded up to an event; if the branch did not exist yet, the version of its parent. */
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
    const content = this.#options.historyReader.getContent(parent, path, version);
    if (content === undefined) return this.#options.rows.remove(branch, path);
    this.#options.rows.put(branch, path, content, getContentInfo(content, path), {
      version,
      at: Date.now(),
      patches: 0,
    });
  }
}

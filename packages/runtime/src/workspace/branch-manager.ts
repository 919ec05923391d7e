import { type Branch, fail, mainBranch, type NewBranch, type NewEvent, type Origin } from "@thinkery/sdk";
import { fullSlice, type Work } from "../host/fair-work.ts";
import type { Branches, BranchRow } from "./branches.ts";
import type { Commits } from "./commits.ts";
import { type ContentWithInfo, countTextUnits, toContentWithInfo } from "./content.ts";
import type { FileRows } from "./file-rows.ts";
import type { HistoryReader } from "./history-reader.ts";
import type { History } from "./history.ts";
import { countBranchBytes } from "./stored-bytes.ts";

const maxBranches = 100;

interface BranchManagerOptions {
  storage: DurableObjectStorage;
  rows: FileRows;
  history: History;
  branches: Branches;
  historyReader: HistoryReader;
  commits: Commits;
  record(event: NewEvent): void;
  /** Throws if the agent must not store so many more bytes in its database. */
  checkGrowth?(bytes: number): void;
}

/** A file as it was; without content if it did not exist. */
interface RestoredFile {
  path: string;
  content: ContentWithInfo | undefined;
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

  *create({ name, from, version, event }: NewBranch & { from: string }, origin: Origin): Work<Branch> {
    const { storage, rows, history, branches, historyReader, commits, checkGrowth } = this.#options;
    const id = name ?? branches.findFreeName();
    if (id === mainBranch || branches.get(id)) throw fail("conflict", `A branch named “${id}” already exists.`);
    if (branches.list().length >= maxBranches)
      throw fail("too_large", `A workspace can have at most ${maxBranches} branches. Remove one you no longer need.`);
    const last = commits.markLatestKnown();
    const at = event === undefined ? (version ?? last) : this.#findVersionAtEvent(event, from);
    historyReader.checkAvailable(at);
    // A branch without changes of its own can still be the parent, so that the new one is merged back into it.
    const parent = at === branches.get(from)?.at ? from : historyReader.resolveBranch(from, at);
    const restored: RestoredFile[] = [];
    for (const path of history.changes.listPathsSince(parent, at)) {
      const content = historyReader.getContent(parent, path, at);
      restored.push({ path, content: content === undefined ? undefined : toContentWithInfo(content, path) });
      yield 60 + 10 * countTextUnits(content);
    }
    checkGrowth?.(countBranchBytes(commits.getTotals(parent)) + countRestoredBytes(restored));
    if (restored.length > 0) yield fullSlice;
    // No pause from here on.
    const now = Date.now();
    const branch = storage.transactionSync(() => {
      branches.add({ name: id, parent, at, origin, now });
      rows.copy(parent, id);
      for (const { path, content } of restored) {
        if (content) rows.put(id, path, content.content, content.info, { version: at, at: now, patches: 0 });
        else rows.remove(id, path);
      }
      return this.#toBranch(branches.get(id) as BranchRow);
    });
    commits.markChanged();
    return branch;
  }

  /** Deletes a branch with its files and history, and records that. Merged changes stay where they were merged into. */
  *remove(name: string, origin: Origin): Work<void> {
    const { storage, rows, history, branches, commits, record } = this.#options;
    if (name === mainBranch) throw fail("conflict", "The branch “main” cannot be removed.");
    const child = branches.list().find(({ parent }) => parent === name);
    if (child)
      throw fail(
        "conflict",
        `Cannot remove “${name}”: the branch “${child.name}” was created from it. Remove that one first.`,
      );
    yield fullSlice;
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
}

function countRestoredBytes(files: readonly RestoredFile[]): number {
  return files.reduce((sum, { content }) => sum + (typeof content?.content === "string" ? content.info.size : 0), 0);
}

import { type Branch, fail, mainBranch, type NewBranch, type Origin } from "@thinkery/sdk";
import type { Branches, BranchRow } from "./branches.ts";
import type { Commits } from "./commits.ts";
import { factsOf } from "./content.ts";
import type { FileRows } from "./file-rows.ts";
import type { History } from "./history.ts";
import type { Past } from "./past.ts";

const mostBranches = 100;

interface BranchingOptions {
  storage: DurableObjectStorage;
  rows: FileRows;
  history: History;
  branches: Branches;
  past: Past;
  commits: Commits;
}

/** Files that go their own way: how they begin, and how they end. */
export class Branching {
  readonly #options: BranchingOptions;

  constructor(options: BranchingOptions) {
    this.#options = options;
  }

  list(): Branch[] {
    return this.#options.branches.list().map((row) => this.#infoOf(row));
  }

  create({ name, from, version, event }: NewBranch & { from: string }, origin: Origin): Branch {
    const { storage, rows, history, branches, past, commits } = this.#options;
    const id = name ?? branches.freeName();
    if (id === mainBranch || branches.get(id)) throw fail("conflict", `There is a branch “${id}” already.`);
    if (branches.list().length >= mostBranches) throw fail("too_large", `A workspace may have ${mostBranches} branches. Remove one that is not needed.`);
    const last = commits.know();
    const at = event === undefined ? (version ?? last) : history.toldBy(event, from);
    past.checkKept(at);
    const parent = past.home(from, at);
    storage.transactionSync(() => {
      branches.add({ name: id, parent, at, origin, now: Date.now() });
      rows.copy(parent, id);
      for (const path of history.changedSince(parent, at)) this.#putAs(id, path, parent, at);
    });
    return this.#infoOf(branches.get(id) as BranchRow);
  }

  remove(name: string): void {
    const { storage, rows, history, branches, commits } = this.#options;
    if (name === mainBranch) throw fail("conflict", "The branch “main” is what the others come from, and stays.");
    const child = branches.list().find(({ parent }) => parent === name);
    if (child) throw fail("conflict", `The branch “${child.name}” comes from it. Remove that one first.`);
    storage.transactionSync(() => {
      branches.remove(name);
      rows.removeAll(name);
      history.forgetBranch(name);
    });
    commits.drop(name);
  }

  #infoOf(row: BranchRow): Branch {
    const { name, parent, at, created_at: createdAt, merged_at: mergedAt, base_branch: baseBranch, base_version: base, origin } = row;
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

  #putAs(branch: string, path: string, parent: string, version: number): void {
    const content = this.#options.past.content(parent, path, version);
    if (content === undefined) return this.#options.rows.remove(branch, path);
    this.#options.rows.put(branch, path, content, factsOf(content, path), { version, at: Date.now(), patches: 0 });
  }
}

import { fail } from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import type { FileRows, Totals } from "./file-rows.ts";
import type { Step } from "./step.ts";

/**
 * What branches add to a workspace: the files that were written on them. Unchanged files count only once, on main. Read
 * once per wake and then kept up to date.
 */
export class BranchUsage {
  readonly #rows: FileRows;
  #added: Map<string, Map<string, number>> | undefined;

  constructor(rows: FileRows) {
    this.#rows = rows;
  }

  getTotals(): { branches: number; files: number; bytes: number } {
    const branches = [...this.#read().values()];
    return {
      branches: branches.length,
      files: branches.reduce((sum, { size }) => sum + size, 0),
      bytes: branches.reduce((sum, files) => sum + sumSizes(files), 0),
    };
  }

  /** Throws if main and what branches add would exceed a limit, unless it does not grow. */
  check(branch: string, steps: readonly Step[], limits: WorkspaceLimits, mainTotals: () => Totals): void {
    const added = this.#read();
    // Main by itself is checked elsewhere.
    if (added.size === 0 && branch === "main") return;
    const own = added.get(branch);
    let [files, bytes] = [0, 0];
    for (const { path, before, after } of steps) {
      const beforeSize = branch === "main" ? before?.info.size : own?.get(path);
      files += Number(after !== undefined) - Number(beforeSize !== undefined);
      bytes += (after?.info.size ?? 0) - (beforeSize ?? 0);
    }
    if (files <= 0 && bytes <= 0) return;
    const [main, branches] = [mainTotals(), this.getTotals()];
    const advice = "Remove branches you no longer need.";
    if (files > 0 && main.files + branches.files + files > limits.maxFiles)
      throw fail("too_large", `A workspace and its branches can have at most ${limits.maxFiles} files. ${advice}`);
    if (bytes > 0 && main.bytes + branches.bytes + bytes > limits.maxTotalMb * 1024 * 1024)
      throw fail("too_large", `A workspace and its branches can have at most ${limits.maxTotalMb} MB. ${advice}`);
  }

  apply(branch: string, steps: readonly Step[]): void {
    if (branch === "main") return;
    const added = this.#read();
    let own = added.get(branch);
    if (!own) added.set(branch, (own = new Map()));
    for (const { path, after } of steps) {
      if (after) own.set(path, after.info.size);
      else own.delete(path);
    }
  }

  drop(branch: string): void {
    this.#added?.delete(branch);
  }

  #read(): Map<string, Map<string, number>> {
    if (this.#added) return this.#added;
    this.#added = new Map();
    for (const { branch, path, size } of this.#rows.listAddedByBranches()) {
      let own = this.#added.get(branch);
      if (!own) this.#added.set(branch, (own = new Map()));
      own.set(path, size);
    }
    return this.#added;
  }
}

function sumSizes(files: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const size of files.values()) sum += size;
  return sum;
}

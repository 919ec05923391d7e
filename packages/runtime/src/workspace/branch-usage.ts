import { fail, mainBranch } from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import type { FileRows, Totals } from "./file-rows.ts";
import type { Step } from "./step.ts";

/** A file that was written on a branch. */
interface AddedFile {
  hash: string;
  size: number;
  /** Whether main has the same content at this path, so that it is not counted again. */
  isOnMain: boolean;
}

interface Growth {
  files: number;
  bytes: number;
}

/**
 * What branches add to a workspace: the files that were written on them and that main does not have. Read once per wake
 * and then kept up to date.
 */
export class BranchUsage {
  readonly #rows: FileRows;
  #added: Map<string, Map<string, AddedFile>> | undefined;

  constructor(rows: FileRows) {
    this.#rows = rows;
  }

  getTotals(): Growth {
    const totals = { files: 0, bytes: 0 };
    for (const files of this.#read().values()) for (const file of files.values()) addFile(totals, file, 1);
    return totals;
  }

  /** Throws if main and what branches add would exceed a limit, unless it does not grow. */
  check(branch: string, steps: readonly Step[], limits: WorkspaceLimits, getMainTotals: () => Totals): void {
    // Main by itself is checked elsewhere.
    if (branch === mainBranch && this.#read().size === 0) return;
    const growth = branch === mainBranch ? this.#computeMainGrowth(steps) : this.#computeBranchGrowth(branch, steps);
    if (growth.files <= 0 && growth.bytes <= 0) return;
    const [main, branches] = [getMainTotals(), this.getTotals()];
    const advice = "Delete files and branches you no longer need.";
    if (growth.files > 0 && main.files + branches.files + growth.files > limits.maxFiles)
      throw fail("too_large", `A workspace and its branches can have at most ${limits.maxFiles} files. ${advice}`);
    if (growth.bytes > 0 && main.bytes + branches.bytes + growth.bytes > limits.maxTotalMb * 1024 * 1024)
      throw fail("too_large", `A workspace and its branches can have at most ${limits.maxTotalMb} MB. ${advice}`);
  }

  /** Called after the changes were committed. */
  apply(branch: string, steps: readonly Step[]): void {
    const added = this.#read();
    if (branch === mainBranch) {
      for (const { path, after } of steps)
        for (const files of added.values()) {
          const file = files.get(path);
          if (file) file.isOnMain = after?.info.hash === file.hash;
        }
      return;
    }
    let own = added.get(branch);
    if (!own) added.set(branch, (own = new Map()));
    for (const step of steps) {
      const file = this.#toAddedFile(step);
      if (file) own.set(step.path, file);
      else own.delete(step.path);
    }
  }

  drop(branch: string): void {
    this.#added?.delete(branch);
  }

  #computeBranchGrowth(branch: string, steps: readonly Step[]): Growth {
    const own = this.#read().get(branch);
    const growth = { files: 0, bytes: 0 };
    for (const step of steps) {
      addFile(growth, own?.get(step.path), -1);
      addFile(growth, this.#toAddedFile(step), 1);
    }
    return growth;
  }

  /** A file that is merged is counted on main from then on, and no longer on its branch. */
  #computeMainGrowth(steps: readonly Step[]): Growth {
    const branches = [...this.#read().values()];
    const growth = { files: 0, bytes: 0 };
    for (const { path, before, after } of steps) {
      growth.files += Number(after !== undefined) - Number(before !== undefined);
      growth.bytes += (after?.info.size ?? 0) - (before?.info.size ?? 0);
      for (const files of branches) {
        const file = files.get(path);
        addFile(growth, file, -1);
        addFile(growth, file && { ...file, isOnMain: after?.info.hash === file.hash }, 1);
      }
    }
    return growth;
  }

  #toAddedFile({ path, after }: Step): AddedFile | undefined {
    if (!after) return undefined;
    const { hash, size } = after.info;
    return { hash, size, isOnMain: this.#rows.stat(mainBranch, path)?.hash === hash };
  }

  #read(): Map<string, Map<string, AddedFile>> {
    if (this.#added) return this.#added;
    this.#added = new Map();
    for (const { branch, path, hash, size, main_hash: mainHash } of this.#rows.listAddedByBranches()) {
      let own = this.#added.get(branch);
      if (!own) this.#added.set(branch, (own = new Map()));
      own.set(path, { hash, size, isOnMain: mainHash === hash });
    }
    return this.#added;
  }
}

function addFile(growth: Growth, file: AddedFile | undefined, sign: 1 | -1): void {
  if (!file || file.isOnMain) return;
  growth.files += sign;
  growth.bytes += sign * file.size;
}

import { type Branch, fail, type ForkMerge, isThinkeryError, mainBranch, type Origin } from "@thinkery/sdk";
import type { SubagentRow } from "../../store/subagent-row.ts";
import { omitTexts } from "../../workspace/overlap.ts";
import type { WorkspacePort } from "../../workspace/workspace-port.ts";
import type { CheckedMerge, CheckedMerges } from "../checked-merges.ts";

interface ForksOptions {
  workspace: WorkspacePort;
  merges: Pick<CheckedMerges, "merge">;
  /** The branch that the agent itself works on. */
  getOwnBranch(): string | undefined;
}

const maxChanges = 50;
const maxOverlaps = 20;

/** The branches of an agent's sub-agents. Every method may be repeated after a crash. */
export class Forks {
  readonly #options: ForksOptions;

  constructor(options: ForksOptions) {
    this.#options = options;
  }

  /** Creates the branch of a sub-agent that is about to start, if it gets one. */
  async create(row: SubagentRow): Promise<void> {
    if (row.fork === undefined) return;
    const branch = { name: row.fork, from: this.#options.getOwnBranch() };
    await this.#options.workspace.createBranch(branch, createOrigin(row)).catch((error: unknown) => {
      if (!isThinkeryError(error) || error.code === "unavailable") throw error;
      throw fail(error.code, `Its branch could not be created. ${error.message}`);
    });
  }

  /**
   * Merges the branch of a sub-agent that has reported. If it failed, or the merge or its check does, the branch stays.
   * Returns undefined if there is nothing on a branch that was not merged.
   */
  async merge(row: SubagentRow, signal: AbortSignal, onLanding: () => void): Promise<ForkMerge | undefined> {
    const { fork = "", reported, check, token } = row;
    if (reported?.status !== "complete") return this.#describeUnmerged(row, "the sub-agent did not complete its work.");
    try {
      const merged = await this.#options.merges.merge({
        branch: fork,
        origin: createOrigin(row),
        key: token,
        signal,
        onLanding,
        ...(check === undefined ? {} : { check }),
      });
      return this.#toForkMerge(row, merged);
    } catch (error) {
      if (signal.aborted || !isThinkeryError(error) || error.code === "unavailable") throw error;
      return this.#toForkMerge(row, { changes: [], overlaps: [], reason: error.message });
    }
  }

  /**
   * Says what became of the branch of a sub-agent whose merge kept failing unexpectedly. It may have been made: a merge
   * that is repeated later is then the same one.
   */
  async describeFailure(row: SubagentRow, message: string): Promise<ForkMerge | undefined> {
    const reason = `the merge kept failing: ${message}`;
    try {
      return await this.#describeUnmerged(row, reason);
    } catch {
      return this.#toForkMerge(row, { changes: [], overlaps: [], reason });
    }
  }

  /** Removes the branch of a finished sub-agent if it is merged or has no changes. Returns what is on it otherwise. */
  async settle(row: SubagentRow): Promise<ForkMerge | undefined> {
    if (row.fork === undefined || row.merge?.isMerged === false) return undefined;
    if (!row.merge) return this.#describeUnmerged(row, "the sub-agent was cancelled.");
    if (!(await this.#tryToRemove(row))) await this.#removeWithMerged(row);
    return undefined;
  }

  /** Removes a branch, and first those below it that are merged. Their sub-agent has reported, but may not have yet. */
  async #removeWithMerged(row: SubagentRow): Promise<void> {
    const branches = await this.#options.workspace.listBranches();
    for (const { id, changed, mergedAt } of listWithDescendants(branches, row).toReversed())
      if (id === row.fork || (changed === 0 && mergedAt !== undefined)) await this.#tryToRemove(row, id);
  }

  /** Removes the branch of a sub-agent that is deleted, and those of sub-agents below it. */
  async remove(row: SubagentRow): Promise<void> {
    if (row.fork === undefined) return;
    const { workspace } = this.#options;
    const branches = await workspace.listBranches();
    // Those that were created from another one must go before it.
    for (const { id } of listWithDescendants(branches, row).toReversed()) await this.#tryToRemove(row, id);
  }

  async #describeUnmerged(row: SubagentRow, reason: string): Promise<ForkMerge | undefined> {
    const branches = await this.#options.workspace.listBranches();
    const branch = branches.find((branch) => isForkOf(branch, row));
    if (!branch) return undefined;
    const nothing = { changes: [], overlaps: [] };
    // A merge may have been made just before the sub-agent was cancelled.
    const isMerged = branch.changed === 0 && branch.mergedAt !== undefined;
    if (branch.changed > 0) return this.#toForkMerge(row, { ...nothing, reason });
    await this.#tryToRemove(row);
    return isMerged ? this.#toForkMerge(row, nothing) : undefined;
  }

  /** Returns whether it is gone. It stays if another branch was created from it. */
  async #tryToRemove(row: SubagentRow, name = row.fork ?? ""): Promise<boolean> {
    try {
      await this.#options.workspace.removeBranch(name, createOrigin(row));
      return true;
    } catch (error) {
      if (!isThinkeryError(error) || error.code !== "conflict") throw error;
      return false;
    }
  }

  #toForkMerge({ fork = "" }: SubagentRow, merged: CheckedMerge): ForkMerge {
    const { version, changes, overlaps, check, reason } = merged;
    const more = Math.max(0, changes.length - maxChanges) + (version?.more ?? 0);
    const moreOverlaps = Math.max(0, overlaps.length - maxOverlaps);
    return {
      branch: fork,
      into: this.#options.getOwnBranch() ?? mainBranch,
      isMerged: reason === undefined,
      ...(version ? { version: version.id } : {}),
      changes: changes.slice(0, maxChanges),
      ...(more > 0 ? { more } : {}),
      overlaps: overlaps.slice(0, maxOverlaps).map(omitTexts),
      ...(moreOverlaps > 0 ? { moreOverlaps } : {}),
      ...(check ? { check } : {}),
      ...(reason === undefined ? {} : { reason }),
    };
  }
}

/** A merge belongs to the turn and the call that delegated, so that reverting those reverts it too. */
function createOrigin({ childThreadId, runId, callId, wait }: SubagentRow): Origin {
  return {
    kind: "agent",
    agent: childThreadId,
    ...(runId === undefined ? {} : { turn: runId }),
    ...(callId === undefined ? {} : { toolCall: callId, tool: wait ? "task" : "delegateToSubagent" }),
  };
}

/** Anybody may have created a branch of that name before. */
const isForkOf = ({ id, by }: Branch, { fork, childThreadId }: SubagentRow) =>
  id === fork && by.kind === "agent" && by.agent === childThreadId;

/** Lists a branch and those that were created from it by agents, ancestors first. */
function listWithDescendants(branches: readonly Branch[], row: SubagentRow): Branch[] {
  const found = branches.filter((branch) => isForkOf(branch, row));
  for (const { id: parent } of found)
    found.push(...branches.filter(({ from, by }) => from === parent && by.kind === "agent"));
  return found;
}

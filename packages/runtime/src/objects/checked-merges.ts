import { type CheckResult, fail, isThinkeryError, type Merge, type MergeResponse, type Origin } from "@thinkery/sdk";
import { authorizeCommand } from "../policy/authorize-command.ts";
import { selectCommandRules } from "../policy/command-check.ts";
import type { AgentLinux } from "../sandbox/linux.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { MergedFiles } from "../turn/calls/merged-files.ts";
import { isPassed, runCheck } from "../turn/calls/run-check.ts";
import type { MergeVersions } from "../workspace/branch-merge.ts";
import type { WorkspacePort } from "../workspace/workspace-port.ts";
import type { AgentResolver } from "./agent-resolver.ts";
import type { Registration } from "./registration.ts";

interface CheckedMergesOptions {
  workspace: WorkspacePort;
  resolver: Pick<AgentResolver, "resolveTools">;
  registration: Pick<Registration, "get">;
  sandbox: Sandbox;
  sandboxKey: string;
  /** Used by checks only. */
  linux: AgentLinux;
  checkSeconds: number;
}

interface MergeBranchRequest extends Merge {
  branch: string;
  origin: Origin;
  /** The same key again is the same merge. */
  key?: string;
  signal: AbortSignal;
  /** Called right before the merge is made; throws to prevent it. */
  onLanding?(): void;
}

/** Without a `reason`, it was merged, or would have been. */
export type CheckedMerge = MergeResponse & { reason?: string };

const maxAttempts = 3;

/** Merges branches, if a command succeeds on the result. One check at a time. */
export class CheckedMerges {
  readonly #options: CheckedMergesOptions;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: CheckedMergesOptions) {
    this.#options = options;
  }

  /** Throws if the agent must not run this command. */
  async authorize(command: string): Promise<void> {
    await this.#resolvePermission(command);
  }

  merge(request: MergeBranchRequest): Promise<CheckedMerge> {
    const { check } = request;
    if (check === undefined) return this.#land(request);
    const merging = this.#last.then(() => this.#mergeChecked(request, check));
    this.#last = merging.catch(() => {});
    return merging;
  }

  async #mergeChecked(request: MergeBranchRequest, command: string): Promise<CheckedMerge> {
    const { workspace } = this.#options;
    const { branch, into, dryRun } = request;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      request.signal.throwIfAborted();
      const preview = await workspace.previewMerge(branch, into);
      const { changes, overlaps, versions } = preview;
      // Nothing would change, or it was merged before a crash.
      if (changes.length === 0) return this.#land(request);
      const files = await MergedFiles.open(workspace, preview);
      if (!files) continue;
      const check = await this.#runCheck(command, files, request.signal);
      if (!isPassed(check)) return { changes, overlaps, check, reason: this.#explain(check) };
      if (dryRun) return { changes, overlaps, check };
      const merged = await this.#land(request, versions);
      if (!merged.isStale) return { ...merged, check };
    }
    throw fail("conflict", "The files kept changing during the check.");
  }

  #land({ branch, into, dryRun, key, origin, signal, onLanding }: MergeBranchRequest, expected?: MergeVersions) {
    signal.throwIfAborted();
    onLanding?.();
    return this.#options.workspace.merge(branch, { into, dryRun, key, expected }, origin);
  }

  async #runCheck(command: string, files: MergedFiles, signal: AbortSignal): Promise<CheckResult> {
    const { sandbox, sandboxKey, linux, checkSeconds } = this.#options;
    try {
      const { hasLinux, hasShell, rules } = await this.#resolvePermission(command);
      return await runCheck({
        command,
        files,
        signal,
        timeoutMs: checkSeconds * 1000,
        linux: hasLinux ? linux : undefined,
        shell: hasShell ? { sandbox, agent: sandboxKey, rules } : undefined,
      });
    } catch (error) {
      // The policy may have changed since the work was delegated.
      if (!isThinkeryError(error) || error.code !== "forbidden") throw error;
      return { command, exitCode: null, endedBy: "denied", output: error.message };
    }
  }

  async #resolvePermission(command: string) {
    const { resolver, registration } = this.#options;
    const { tools, config } = await resolver.resolveTools(registration.get());
    const available = ["sandbox", "bash"].flatMap((name) => tools.find(name) ?? []);
    const usable = authorizeCommand(config, available, command).map(({ name }) => name);
    return {
      hasLinux: usable.includes("sandbox"),
      hasShell: usable.includes("bash"),
      rules: selectCommandRules(config),
    };
  }

  #explain({ command, exitCode, endedBy }: CheckResult): string {
    const name = `the check “${command.length > 200 ? `${command.slice(0, 200).toWellFormed()}…` : command}”`;
    if (endedBy === "timeout") return `${name} did not finish within ${this.#options.checkSeconds} s.`;
    if (endedBy === "denied") return `${name} is not allowed.`;
    if (endedBy === "no_sandbox") return `${name} could not run.`;
    return `${name} failed (${endedBy ? `ended by ${endedBy}` : `exit code ${exitCode ?? "unknown"}`}).`;
  }
}

import {
  type FileEdit,
  isThinkeryError,
  type CommitResponse,
  type NewEvent,
  type Origin,
  type Overlap,
  findPathIssue,
  type Shell,
  formatPath,
  type ShellResult,
  ToolError,
  workspaceFolder,
} from "@thinkery/sdk";
import { matchesWildcard } from "@thinkery/sdk/internal";
import { selectCommandRules } from "../../policy/command-check.ts";
import { explainFileDenial } from "../../policy/file-access.ts";
import {
  initialShellState,
  type ShellCommandResult,
  shellLimits,
  type ShellCommandRequest,
} from "../../sandbox/command.ts";
import type { NestedSandbox } from "../../sandbox/sandbox.ts";
import type { ShellChange, ShellState } from "../../sandbox/shell.ts";
import type { WorkspacePort } from "../../workspace/workspace-port.ts";
import type { StepContext } from "./step-context.ts";
import { createWaitReporter } from "./waiting.ts";

const maxNotes = 20;

interface ShellOptions {
  callId: string;
  step: StepContext;
  signal: AbortSignal;
  /** Whether a person has approved the command, so that rules which ask are settled. */
  isApproved: boolean;
  /** The origin of the command's changes. */
  origin: Origin;
  record(...events: NewEvent[]): void;
  /** Calls the capability `fetch`, subject to policy. */
  fetch(input: string): Promise<string>;
  /** The sandbox that the call is already in, if it is made by code. */
  inside?: () => NestedSandbox | undefined;
}

/** Opens a shell on the agent's workspace. A command's changes become one version, merged with concurrent ones. */
export function openShell(options: ShellOptions): Shell {
  const { callId, step, signal, inside } = options;
  const { runId, progress, deps } = step;
  const { sandbox, sandboxKey, shellFiles, config } = deps;
  const { timeoutSeconds, maxTimeoutSeconds } = sandbox.limits;
  const createRunOptions = () => ({
    agent: sandboxKey,
    signal,
    timeoutMs: timeoutSeconds * 1000,
    ...createWaitReporter((text) => progress(callId, text)),
  });
  return {
    async run(command, { timeoutMs = timeoutSeconds * 1000 } = {}) {
      const startedAt = Date.now();
      const request = createRequest(command, shellFiles.getShellState(runId) ?? initialShellState, options);
      const limitMs = Math.min(timeoutMs, maxTimeoutSeconds * 1000);
      const response = await (inside?.()?.shell(request, limitMs) ??
        sandbox.shell(request, { ...createRunOptions(), timeoutMs: limitMs }));
      signal.throwIfAborted();
      const result = await commitChanges(response, options);
      shellFiles.keepShellState(runId, response.state);
      return { ...result, ms: Date.now() - startedAt };
    },
    async search({ under, ...options }) {
      const scope = under === undefined ? {} : { under: toWorkspacePath(under) };
      const request = { ...options, ...scope, files: shellFiles };
      const { found, more } = await (inside?.()?.search(request) ?? sandbox.search(request, createRunOptions()));
      // Files that policy hides from searches are filtered out here, wherever the search was asked to look.
      return { found: found.filter(({ path }) => explainFileDenial(config, "grep", path) === undefined), more };
    },
  };
}

function createRequest(
  command: string,
  state: ShellState,
  { step, fetch, isApproved }: ShellOptions,
): ShellCommandRequest {
  const { shellFiles, config } = step.deps;
  const hasNetwork = config?.policy?.some(({ tool, action }) => action === "allow" && matchesWildcard("fetch", tool));
  const { policy, grants } = selectCommandRules(config);
  const rules = { policy: isApproved ? policy.filter(({ action }) => action !== "ask") : policy, grants };
  return { command, state, files: shellFiles, limits: shellLimits, rules, ...(hasNetwork ? { fetch } : {}) };
}

async function commitChanges(
  { exitCode, stdout, stderr, notes, changes, version: base }: ShellCommandResult,
  { step, signal, origin, record }: ShellOptions,
): Promise<Omit<ShellResult, "ms">> {
  const { workspace, branch } = step.deps;
  const allNotes = [...notes];
  const output = { exitCode, stdout, stderr, notes: allNotes };
  if (changes.length === 0) return output;
  const edits = await toEdits(workspace, changes, allNotes);
  signal.throwIfAborted();
  let result: CommitResponse;
  try {
    result = await workspace.commit({ edits, origin, branch, base, partial: true }, { record });
  } catch (error) {
    if (!isThinkeryError(error)) throw error;
    throw new ToolError(
      error.code === "too_large" ? "limit" : "threw",
      [stdout.trimEnd(), stderr.trimEnd(), `The command ran, but its file changes were not saved. ${error.message}`]
        .filter(Boolean)
        .join("\n\n"),
    );
  }
  allNotes.push(...result.overlaps.slice(0, maxNotes).map(formatOverlap));
  return { ...output, ...(result.version ? { version: result.version } : {}) };
}

/** Converts changes to edits, and adds a note for each file that a workspace cannot hold. */
async function toEdits(
  workspace: WorkspacePort,
  changes: readonly ShellChange[],
  notes: string[],
): Promise<FileEdit[]> {
  const edits: FileEdit[] = [];
  const skipped: string[] = [];
  for (const change of changes) {
    const path = "write" in change ? change.write : "move" in change ? change.to : undefined;
    const issue = path === undefined ? undefined : findPathIssue(path);
    if (issue) skipped.push(`“${formatPath(path ?? "")}” was not saved: ${issue}.`);
    else if ("write" in change)
      edits.push({ write: change.write, content: await workspace.store(change.content, change.write) });
    else edits.push(change);
  }
  notes.push(...skipped.slice(0, maxNotes));
  if (skipped.length > maxNotes) notes.push(`${skipped.length - maxNotes} more files were not saved.`);
  return edits;
}

function formatOverlap({ path, line, conflictCopy, reason }: Overlap): string {
  const location = conflictCopy
    ? `; the other version is in “${conflictCopy}”`
    : line === undefined
      ? ""
      : `; both versions start at line ${line}`;
  return `“${path}”: ${reason}${location}`;
}

function toWorkspacePath(under: string): string {
  return under === workspaceFolder
    ? ""
    : under.startsWith(`${workspaceFolder}/`)
      ? under.slice(workspaceFolder.length + 1)
      : under;
}

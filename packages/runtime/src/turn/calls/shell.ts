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
import { explainFileDenial } from "../../policy/file-access.ts";
import { selectCommandRules } from "../../policy/match-command.ts";
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
  /** Who changes what a command changes. */
  origin: Origin;
  record(...events: NewEvent[]): void;
  /** The network, through the gate. */
  fetch(input: string): Promise<string>;
  /** The sandbox that the call is in already, where code makes it. */
  inside?: () => NestedSandbox | undefined;
}

/** A shell on the agent's workspace. What a command changes becomes one version; what others changed meanwhile survives. */
export function openShell(options: ShellOptions): Shell {
  const { callId, step, signal, inside } = options;
  const { runId, progress, deps } = step;
  const { sandbox, sandboxKey, shellFiles, config } = deps;
  const { timeoutSeconds: seconds, maxTimeoutSeconds } = sandbox.limits;
  const createTerms = () => ({
    agent: sandboxKey,
    signal,
    timeoutMs: seconds * 1000,
    ...createWaitReporter((text) => progress(callId, text)),
  });
  return {
    async run(command, { timeoutMs = seconds * 1000 } = {}) {
      const began = Date.now();
      const order = createOrder(command, shellFiles.getShellState(runId) ?? initialShellState, options);
      const limitMs = Math.min(timeoutMs, maxTimeoutSeconds * 1000);
      const answer = await (inside?.()?.shell(order, limitMs) ??
        sandbox.shell(order, { ...createTerms(), timeoutMs: limitMs }));
      signal.throwIfAborted();
      const result = await commitChanges(answer, options);
      shellFiles.keepShellState(runId, answer.state);
      return { ...result, ms: Date.now() - began };
    },
    async search({ under, ...order }) {
      const where = under === undefined ? {} : { under: toWorkspacePath(under) };
      const asked = { ...order, ...where, files: shellFiles };
      const { found, more } = await (inside?.()?.search(asked) ?? sandbox.search(asked, createTerms()));
      // What no rule lets a search look into is not among what it finds, wherever it was told to look.
      return { found: found.filter(({ path }) => explainFileDenial(config, "grep", path) === undefined), more };
    },
  };
}

function createOrder(command: string, state: ShellState, { step, fetch }: ShellOptions): ShellCommandRequest {
  const { shellFiles, config } = step.deps;
  const policy = config?.policy ?? [];
  const hasNetwork = policy.some(({ tool, action }) => action === "allow" && matchesWildcard("fetch", tool));
  const rules = selectCommandRules(policy);
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
      [
        stdout.trimEnd(),
        stderr.trimEnd(),
        `The command ran, but nothing of what it did to files was kept. ${error.message}`,
      ]
        .filter(Boolean)
        .join("\n\n"),
    );
  }
  allNotes.push(...result.overlaps.slice(0, maxNotes).map(formatOverlap));
  return { ...output, ...(result.version ? { version: result.version } : {}) };
}

/** What can be in a workspace; of the rest it is told why not. */
async function toEdits(workspace: WorkspacePort, changes: readonly ShellChange[], told: string[]): Promise<FileEdit[]> {
  const edits: FileEdit[] = [];
  const refused: string[] = [];
  for (const change of changes) {
    const path = "write" in change ? change.write : "move" in change ? change.to : undefined;
    const problem = path === undefined ? undefined : findPathIssue(path);
    if (problem) refused.push(`“${formatPath(path ?? "")}” was not kept: ${problem}.`);
    else if ("write" in change)
      edits.push({ write: change.write, content: await workspace.store(change.content, change.write) });
    else edits.push(change);
  }
  told.push(...refused.slice(0, maxNotes));
  if (refused.length > maxNotes) told.push(`${refused.length - maxNotes} more files were not kept.`);
  return edits;
}

function formatOverlap({ path, line, kept, reason }: Overlap): string {
  const where = kept ? `; the other one is “${kept}”` : line === undefined ? "" : `; both are in it from line ${line}`;
  return `“${path}”: ${reason}${where}`;
}

function toWorkspacePath(under: string): string {
  return under === workspaceFolder
    ? ""
    : under.startsWith(`${workspaceFolder}/`)
      ? under.slice(workspaceFolder.length + 1)
      : under;
}

import { type CheckResult, ToolError } from "@thinkery/sdk";
import { toReadableOutput } from "@thinkery/sdk/internal";
import type { CommandRules } from "../../policy/command-check.ts";
import { initialShellState, shellLimits } from "../../sandbox/command.ts";
import { runOnNewCopy } from "../../sandbox/linux-files.ts";
import type { AgentLinux } from "../../sandbox/linux.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { MergedFiles } from "./merged-files.ts";

export interface CheckOptions {
  command: string;
  files: MergedFiles;
  timeoutMs: number;
  signal: AbortSignal;
  /** A Linux sandbox that nothing else uses; omitted if the command must not run there. */
  linux?: AgentLinux | undefined;
  /** Where the command runs if there is no Linux sandbox; omitted if it must not run there. */
  shell?: { sandbox: Sandbox; agent: string; rules: CommandRules } | undefined;
}

const maxOutputChars = 4000;
/** Of a command that the shell itself ended. */
const timeoutExitCode = 124;

export const isPassed = ({ exitCode, endedBy }: CheckResult) => exitCode === 0 && endedBy === undefined;

/** Runs a command on the files of a merge. What it changes is dropped. */
export async function runCheck(options: CheckOptions): Promise<CheckResult> {
  const { command, signal, linux, shell } = options;
  try {
    if (linux) return await runInLinux(linux, options);
  } catch (error) {
    signal.throwIfAborted();
    const isMissing = error instanceof ToolError && error.code === "no_sandbox";
    if (!isMissing || !shell) return toResult(command, error);
  }
  try {
    return await runInShell(shell, options);
  } catch (error) {
    signal.throwIfAborted();
    return toResult(command, error);
  }
}

async function runInLinux(linux: AgentLinux, { command, files, timeoutMs, signal }: CheckOptions) {
  const {
    exitCode,
    endedBy,
    output,
    notes = [],
  } = await runOnNewCopy(linux, files.toCopy(), command, {
    timeoutMs,
    signal,
    onOutput() {},
  });
  return createResult({ command, exitCode, ...(endedBy ? { endedBy } : {}), output: [output, ...notes].join("\n") });
}

async function runInShell(shell: CheckOptions["shell"], { command, files, timeoutMs, signal }: CheckOptions) {
  if (!shell) throw new ToolError("no_sandbox", "This agent has no shell to run it in.");
  const { sandbox, agent, rules } = shell;
  let startedAt = Date.now();
  const { exitCode, stdout, stderr, notes } = await sandbox.shell(
    { command, state: initialShellState, files, limits: shellLimits, rules },
    { agent, timeoutMs, signal, onPlace() {}, onBegin: () => (startedAt = Date.now()) },
  );
  const isTimeout = exitCode === timeoutExitCode && Date.now() - startedAt >= timeoutMs;
  const output = [stdout, stderr, ...notes].map((text) => toReadableOutput(text).trimEnd());
  return createResult({
    command,
    exitCode,
    ...(isTimeout ? { endedBy: "timeout" } : {}),
    output: output.filter(Boolean).join("\n"),
  });
}

/** A command that was ended, or that could not run, has not passed. */
function toResult(command: string, error: unknown): CheckResult {
  if (!(error instanceof ToolError)) throw error;
  return createResult({ command, exitCode: null, endedBy: error.code, output: error.message });
}

const createResult = ({ output, ...result }: CheckResult): CheckResult => ({
  ...result,
  output: output.length > maxOutputChars ? `…${output.slice(-maxOutputChars).toWellFormed()}` : output,
});

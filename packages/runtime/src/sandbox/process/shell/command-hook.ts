import type { BashOptions, ExecResult } from "just-bash/browser";

/** The part of the interpreter's state that a hook may read. */
export interface InterpreterState {
  env: ReadonlyMap<string, string>;
  cwd: string;
}

/**
 * Called once before each command, builtin or program, with its own name ("rm" for "/usr/bin/rm") and its expanded
 * arguments, however it was reached: from a script, a function or another program. If it returns a result, that is the
 * command's result and the command does not run.
 */
export type CommandHook = (name: string, args: readonly string[], state: InterpreterState) => ExecResult | undefined;

/**
 * Returns the `coverage` option with a command hook. just-bash itself only uses it to count features; our patch
 * (packages/runtime/patches) calls the hook where commands are dispatched, and fails every command if there is none.
 */
export function withCommandHook(beforeCommand: CommandHook): NonNullable<BashOptions["coverage"]> {
  const coverage = { hit() {}, beforeCommand };
  return coverage;
}

import { fail, interpolate, type PlaceholderValues, type SetupStep } from "@thinkery/sdk";
import { runShell, type ShellResult } from "./shell.ts";

/** Receives the progress of a setup. */
export interface SetupListener {
  onStep(step: { number: number; count: number; name?: string; command: string }): void;
  onErrorLine(line: string): void;
  /** A step has succeeded. */
  onResult(result: { output: string; ms: number }): void;
}

interface SetupOptions {
  steps: readonly SetupStep[];
  /** What placeholders in commands stand for, apart from outputs of earlier steps. */
  values: Omit<PlaceholderValues, "setup">;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  listener: SetupListener;
  /** The most that a step may print. */
  maxOutputBytes?: number;
}

const defaultMaxOutputBytes = 1024 * 1024;
const maxTailLines = 10;

/** Runs the setup of a workflow and returns the outputs of its named steps. Stops with the first step that fails. */
export async function runSetup(options: SetupOptions): Promise<Record<string, string>> {
  const { steps, values, cwd, env, signal, listener, maxOutputBytes = defaultMaxOutputBytes } = options;
  const outputs: Record<string, string> = {};
  for (const [index, { shell, as: name }] of steps.entries()) {
    const command = interpolate(shell, { ...values, setup: outputs }, ["setup", index, "shell"]);
    const title = `Setup step ${index + 1}${name === undefined ? "" : ` (${name})`}`;
    const tail: string[] = [];
    const onErrorLine = (line: string) => {
      tail.push(line);
      if (tail.length > maxTailLines) tail.shift();
      listener.onErrorLine(line);
    };
    listener.onStep({ number: index + 1, count: steps.length, command, ...(name === undefined ? {} : { name }) });
    const startedAt = performance.now();
    const result = await runShell(command, { cwd, env, signal, maxOutputBytes, onErrorLine }).catch(
      (error: unknown) => {
        throw fail("bad_request", `${title} could not be started: ${(error as Error).message}.`);
      },
    );
    if (signal.aborted) throw fail("conflict", `${title} was interrupted. The workflow was not started.`);
    checkResult(title, result, tail, maxOutputBytes);
    const output = result.stdout.trim();
    listener.onResult({ output, ms: performance.now() - startedAt });
    if (name !== undefined) outputs[name] = output;
  }
  return outputs;
}

function checkResult(title: string, result: ShellResult, tail: readonly string[], maxOutputBytes: number): void {
  const { exitCode, signal, isTooLong } = result;
  if (isTooLong) {
    const limit = maxOutputBytes % 1_048_576 === 0 ? `${maxOutputBytes / 1_048_576} MB` : `${maxOutputBytes} bytes`;
    throw fail(
      "conflict",
      `${title} printed more than ${limit}. Let it print less, or write to a file. The workflow was not started.`,
    );
  }
  if (exitCode === 0) return;
  const how = exitCode === null ? `was ended by ${signal}` : `failed with exit code ${exitCode}`;
  const said = tail.length > 0 ? `:\n${tail.join("\n")}` : ".";
  throw fail("conflict", `${title} ${how}, so the workflow was not started${said}`);
}

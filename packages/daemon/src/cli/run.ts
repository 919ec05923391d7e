import { fail } from "@thinkery/sdk";
import { CommanderError } from "commander";
import { loadEnvironment } from "../config/environment.ts";
import type { Cli } from "./cli.ts";
import { toExitCode, exitCodes } from "./exit.ts";
import { Output, type Sink } from "./output.ts";
import { buildProgram, type UsageErrors } from "./program.ts";

interface CliOptions {
  argv: string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  entry: string;
  version: string | undefined;
  stdout: Sink;
  stderr: Sink;
  isInteractive: boolean;
  takeOverInterrupts(): void;
}

/** Runs a command line and returns its exit code. */
export async function run(options: CliOptions): Promise<number> {
  const { argv, cwd, stdout, stderr } = options;
  const { env, ignored } = loadEnvironment(options.env, cwd);
  // Checked before parsing: a usage error must be reported as JSON too.
  const output = new Output({ stdout, stderr, env, json: argv.includes("--json") });
  let exitCode: number = exitCodes.ok;
  const cli: Cli = {
    env,
    cwd,
    entry: options.entry,
    version: options.version,
    output,
    isInteractive: options.isInteractive,
    setExitCode: (code) => {
      exitCode = code;
    },
    takeOverInterrupts: options.takeOverInterrupts,
  };
  const usageErrors: UsageErrors = { last: undefined };
  const program = buildProgram(cli, usageErrors);
  if (ignored.length > 0)
    output.writeMessage(`Ignoring ${ignored.join(" and ")} in .env; set it in the environment instead.`);
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return reportUsageError(error, usageErrors, output);
    output.writeError(error);
    return toExitCode(error);
  }
}

function reportUsageError(error: CommanderError, usageErrors: UsageErrors, output: Output): number {
  if (error.exitCode === 0) return exitCodes.ok;
  const message = usageErrors.last
    ?.replace(/^error: /, "")
    .trim()
    .replaceAll("\n", " ")
    // No option has a space: it is a text, such as an item of a list.
    .replace(/^unknown option '-[^']*\s.*$/, (text) => `${text}. Put -- before text that starts with “-”.`);
  // Without a message, commander has already printed the help of a command group.
  if (message || output.isJson)
    output.writeError(fail("bad_request", message ?? "Missing command. Run with --help for a list."));
  return exitCodes.usage;
}

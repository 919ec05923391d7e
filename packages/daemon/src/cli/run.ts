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

/** Runs one command line and says what to exit with. */
export async function run(surroundings: CliOptions): Promise<number> {
  const { argv, cwd, stdout, stderr } = surroundings;
  const { env, ignored } = loadEnvironment(surroundings.env, cwd);
  // Asked here and not of the parsed options: an error in those must be told as JSON too.
  const output = new Output({ stdout, stderr, env, json: argv.includes("--json") });
  let exitCode: number = exitCodes.ok;
  const cli: Cli = {
    env,
    cwd,
    entry: surroundings.entry,
    version: surroundings.version,
    output,
    isInteractive: surroundings.isInteractive,
    setExitCode: (code) => {
      exitCode = code;
    },
    takeOverInterrupts: surroundings.takeOverInterrupts,
  };
  const complaints: UsageErrors = { last: undefined };
  const program = buildProgram(cli, complaints);
  if (ignored.length > 0)
    output.writeMessage(`${ignored.join(" and ")} in .env is not used; set it in the environment.`);
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return reportUsageError(error, complaints, output);
    output.writeError(error);
    return toExitCode(error);
  }
}

function reportUsageError(error: CommanderError, complaints: UsageErrors, output: Output): number {
  if (error.exitCode === 0) return exitCodes.ok;
  const said = complaints.last
    ?.replace(/^error: /, "")
    .trim()
    .replaceAll("\n", " ");
  // Without a complaint the help of a group of commands was just printed in its place.
  if (said || output.isJson)
    output.writeError(fail("bad_request", said ?? "Say what to do; --help lists the commands."));
  return exitCodes.usage;
}

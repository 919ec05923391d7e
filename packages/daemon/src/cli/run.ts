import { fail } from "@thinkery/sdk";
import { CommanderError } from "commander";
import { loadEnvironment } from "../config/environment.ts";
import type { Cli } from "./cli.ts";
import { exitCodeOf, exitCodes } from "./exit.ts";
import { Output, type Sink } from "./output.ts";
import { buildProgram, type Complaints } from "./program.ts";

interface Surroundings {
  argv: string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  entry: string;
  version: string | undefined;
  stdout: Sink;
  stderr: Sink;
  interactive: boolean;
  ownInterrupts(): void;
}

/** Runs one command line and says what to exit with. */
export async function run(surroundings: Surroundings): Promise<number> {
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
    interactive: surroundings.interactive,
    exitWith: (code) => {
      exitCode = code;
    },
    ownInterrupts: surroundings.ownInterrupts,
  };
  const complaints: Complaints = { last: undefined };
  const program = buildProgram(cli, complaints);
  if (ignored.length > 0) output.say(`${ignored.join(" and ")} in .env is not used; set it in the environment.`);
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return usage(error, complaints, output);
    output.error(error);
    return exitCodeOf(error);
  }
}

function usage(error: CommanderError, complaints: Complaints, output: Output): number {
  if (error.exitCode === 0) return exitCodes.ok;
  const said = complaints.last?.replace(/^error: /, "").trim().replaceAll("\n", " ");
  // Without a complaint the help of a group of commands was just printed in its place.
  if (said || output.json) output.error(fail("bad_request", said ?? "Say what to do; --help lists the commands."));
  return exitCodes.usage;
}

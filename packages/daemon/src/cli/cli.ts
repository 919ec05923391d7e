import type { Environment } from "../config/environment.ts";
import type { Output } from "./output.ts";

/** The context passed to every command. */
export interface Cli {
  /** The working folder's `.env` merged with the real environment, which takes precedence. */
  env: Environment;
  cwd: string;
  /** This program's entry file, used to start the background host. */
  entry: string;
  /** This program's version; undefined in an unbuilt checkout. */
  version: string | undefined;
  output: Output;
  /** Whether a user can answer prompts. */
  isInteractive: boolean;
  /** Sets the exit code for when nothing throws. */
  setExitCode(code: number): void;
  /** From now on the command handles Ctrl+C itself. */
  takeOverInterrupts(): void;
}

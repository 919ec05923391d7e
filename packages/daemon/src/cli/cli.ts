import type { Environment } from "../config/environment.ts";
import type { Output } from "./output.ts";

/** What every command is given. */
export interface Cli {
  /** The real environment, and under it the working folder's `.env`. */
  env: Environment;
  cwd: string;
  /** The program's own file, to start it again in the background. */
  entry: string;
  /** This program's version; absent when it was not built. */
  version: string | undefined;
  output: Output;
  /** A person sits at the keyboard and can be asked. */
  isInteractive: boolean;
  /** What the process will exit with when nothing throws. */
  setExitCode(code: number): void;
  /** The command answers Ctrl+C itself from now on. */
  takeOverInterrupts(): void;
}

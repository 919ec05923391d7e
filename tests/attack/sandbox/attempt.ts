import type { CodeOptions } from "./code-testbed.ts";

/** A program that tries to break out of the sandbox. */
export interface Attempt {
  name: string;
  /**
   * `TRAP`, `PORT`, `MAIN`, `HOME` and `OTHER` stand for the test's own server, its port, the host's URL, its data folder
   * and another agent's name.
   */
  code: string;
  /** The expected outcome: `ok: …` for a run that completed, otherwise the error's kind and message. */
  expected: RegExp;
  options: CodeOptions;
}

export const createAttempt = (name: string, expected: RegExp, code: string, options: CodeOptions = {}): Attempt => ({
  name,
  expected,
  code,
  options,
});

/** Patches the built-ins that a guard might use, so that all of their checks pass. */
export const unguarded =
  "Array.prototype.includes = Array.prototype.some = Set.prototype.has = Map.prototype.has = () => true; Object.hasOwn = () => true; RegExp.prototype.test = () => false; RegExp.prototype.exec = () => null;";

/** The error for a module that was not given. */
export const noModule = /^threw: Error: There is no module “/;

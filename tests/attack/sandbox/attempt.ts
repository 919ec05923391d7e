import type { CodeOptions } from "./code-testbed.ts";

/** A program that tries to get somewhere it should not. */
export interface Attempt {
  /** What it tries. */
  tries: string;
  /** `TRAP`, `PORT`, `MAIN`, `HOME` and `OTHER` stand for the test's own server, its port, the host's address, its data folder and another agent's name. */
  code: string;
  /** What its outcome has to be: `ok: …` for a run that ended by itself, else the kind of its failure and what that says. */
  ends: RegExp;
  given: CodeOptions;
}

export const createAttempt = (tries: string, ends: RegExp, code: string, given: CodeOptions = {}): Attempt => ({
  tries,
  ends,
  code,
  given,
});

/** Has every question that a guard could ask by the platform's own means answered in the code's favour. */
export const unguarded =
  "Array.prototype.includes = Array.prototype.some = Set.prototype.has = Map.prototype.has = () => true; Object.hasOwn = () => true; RegExp.prototype.test = () => false; RegExp.prototype.exec = () => null;";

/** The refusal of a module that was not given. */
export const noModule = /^threw: Error: There is no module “/;

import { acceptedPaths } from "./accepted-paths.ts";
import { rejectedPaths } from "./rejected-paths.ts";

/** A path that an attacker might try, and what must happen. */
export interface PathCase {
  path: string;
  /** The kind of attack. */
  kind: string;
  /** The path in the workspace; undefined if the path is rejected. */
  storedAs?: string;
}

export const pathCases: readonly PathCase[] = [
  ...rejectedPaths.flatMap(([kind, paths]) => paths.map((path) => ({ path, kind }))),
  ...acceptedPaths.flatMap(([kind, paths]) =>
    paths.map((item) =>
      typeof item === "string" ? { path: item, kind, storedAs: item } : { path: item[0], kind, storedAs: item[1] },
    ),
  ),
].filter(({ path }, index, all) => all.findIndex((other) => other.path === path) === index);

/** Names that are the same file on some systems: if the first exists, the others are rejected. */
export const caseCollisions: readonly (readonly string[])[] = [
  ["readme.md", "README.md", "ReadMe.MD"],
  ["src/a.ts", "SRC/a.ts", "Src/A.ts"],
  ["straße", "STRASSE", "straSSe", "STRAẞE"],
  ["ΑΣ", "ας", "ασ"],
  ["ſ", "s", "S"],
  ["K", "k"],
  ["µ", "μ", "Μ"],
  ["é", "É", "É"],
  ["ﬁle", "file", "FILE"],
  ["ǆ", "ǅ", "Ǆ"],
  ["❤️", "❤"],
];

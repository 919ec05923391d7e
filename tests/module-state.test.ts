import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// Objects may live in different isolates, and each has its own copy of a module's variables. So what lives there is a
// cache that may be lost or missed at any time. docs/01-shape.md has the table “State outside of objects”.

const root = fileURLToPath(new URL("..", import.meta.url));

/** Every module-level binding of main's Worker that can change, and why it is right when it is not shared. */
const allowed: Record<string, string> = {
  "agency/revision.ts revisions": "a hint; agents in other isolates read again after 30 s",
  "agency/revision.ts last": "numbers the hints",
  "host/drain.ts holdCount": "best effort; what a stop cuts off is recovered like after a crash",
  "host/drain.ts isStopping": "best effort, as above",
  "http/authenticate.ts callerCache": "yeses, for 10 s",
  "http/directory.ts accessCache": "yeses, for 30 s; the object itself knows that it is gone",
  "model/catalogue.ts modelsByEnv": "derived from the environment; listings for 30 s",
  "model/estimate.ts definitionChars": "results of a pure function",
  "objects/usage-reports.ts flushDueAt": "a timer of this isolate",
  "objects/usage-reports.ts pendingReports": "sent within 500 ms, said again by the next beat",
  "policy/match-request.ts parsedRules": "results of a pure function",
  "tools/toolbox.ts definitionCache": "results of a pure function",
};

/** Declared at the top of a file, in the first column. */
const declaration =
  /^(?:export )?(?:(let|var) (?<variable>\w+)|const (?<container>\w+)(?<type>[^=]*)= (?:new (?:Map|Set|WeakMap|WeakSet|Array)\b|\[\]|\{\}))(?<rest>.*)/gm;

/** A set or map with content, or one that is only read, is a constant. */
function isConstant({ type = "", rest = "" }: Record<string, string | undefined>): boolean {
  return /Readonly|readonly/.test(type) || /^(?:<[^(]*>)?\((?!\))/.test(rest);
}

function findState(file: string, source: string): string[] {
  return [...source.matchAll(declaration)]
    .filter(({ groups = {} }) => groups.variable !== undefined || !isConstant(groups))
    .map(({ groups = {} }) => `${file} ${groups.variable ?? groups.container}`);
}

test("mutable state at the top of a module is found, constants are not", () => {
  const source = `
let a = 0;
export let b: string | undefined;
const c = new Map<string, Map<string, number>>();
export const d = new WeakMap<object, number>();
const e: string[] = [];
const f: Record<string, number> = {};
const g = new Set(["one", "two"]);
const h = new Set(
  names,
);
const i: ReadonlyMap<string, number> = new Map();
const j = { k: 1 };
function local() {
  let l = 0;
}
`;
  expect(findState("x.ts", source)).toEqual(["a", "b", "c", "d", "e", "f"].map((name) => `x.ts ${name}`));
});

test("every mutable binding of a module of main's Worker is a known cache", async () => {
  const folder = "packages/runtime/src/";
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", folder], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    // What runs inside a slot has an isolate of its own.
    .filter(
      (file) =>
        file.endsWith(".ts") && !/\.(?:test|fixture)\.ts$/.test(file) && !file.startsWith(`${folder}sandbox/process`),
    );
  expect(files.length).toBeGreaterThan(100);
  const found: string[] = [];
  for (const file of files) found.push(...findState(file.slice(folder.length), await readFile(root + file, "utf8")));
  expect(found.toSorted()).toEqual(Object.keys(allowed).toSorted());
});

import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// Objects may live in different isolates, each with its own copy of a module's variables. So module state may only be a
// cache that can be lost or stale at any time. See the table “State outside of objects” in docs/01-architecture.md.

const root = fileURLToPath(new URL("..", import.meta.url));

/** Every mutable module-level binding of main's Worker, and why it need not be shared. */
const allowed: Record<string, string> = {
  "agency/revision.ts revisions": "a hint; agents in other isolates read again after 30 s",
  "agency/revision.ts last": "numbers the hints",
  "host/drain.ts holdCount": "best effort; work interrupted by a stop is recovered as after a crash",
  "host/drain.ts isStopping": "best effort, as above",
  "host/fair-work.ts thread": "who works within the isolate; elsewhere objects have their own threads",
  "http/authenticate.ts callerCache": "positive results, for 10 s",
  "http/authenticate.ts forgetCount": "of the cache of this isolate",
  "http/directory.ts membershipCache": "positive results, for 30 s; sockets and streams are closed at once",
  "http/directory.ts forgetCount": "of the caches of this isolate",
  "http/directory.ts accessCache": "positive results, for 30 s; a deleted object refuses requests itself",
  "http/failure-limit.ts failureCounts": "best effort; each isolate counts the failures it sees",
  "model/catalogue.ts modelsByEnv": "derived from the environment; listings for 30 s",
  "model/estimate.ts definitionChars": "results of a pure function",
  "objects/usage-reports.ts flushDueAt": "a timer of this isolate",
  "objects/usage-reports.ts pendingReports": "sent within 500 ms, repeated with the next heartbeat",
  "policy/match-request.ts parsedRules": "results of a pure function",
  "schedules/time-zone.ts zonesByName": "results of a pure function",
  "tools/toolbox.ts definitionCache": "results of a pure function",
};

/** Matches declarations in the first column. */
const declaration =
  /^(?:export )?(?:(let|var) (?<variable>\w+)|const (?<container>\w+)(?<type>[^=]*)= (?:new (?!TextEncoder|TextDecoder|RegExp|URL)[A-Z]\w*\b|\[\]|\{\}))(?<rest>.*)/gm;

/** Tells whether a set or map is a constant: readonly, or created with content. */
function isConstant({ type = "", rest = "" }: Record<string, string | undefined>): boolean {
  return /Readonly|readonly/.test(type) || /^(?:<[^(]*>)?\((?!\))/.test(rest);
}

function findState(file: string, source: string): string[] {
  return [...source.matchAll(declaration)]
    .filter(({ groups = {} }) => groups.variable !== undefined || !isConstant(groups))
    .map(({ groups = {} }) => `${file} ${groups.variable ?? groups.container}`);
}

test("mutable module state is found, constants are not", () => {
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

test("every mutable module-level binding of main's Worker is a known cache", async () => {
  const folder = "packages/runtime/src/";
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", folder], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    // Code that runs inside a slot has its own isolate.
    .filter(
      (file) =>
        file.endsWith(".ts") && !/\.(?:test|fixture)\.ts$/.test(file) && !file.startsWith(`${folder}sandbox/process`),
    );
  expect(files.length).toBeGreaterThan(100);
  const found: string[] = [];
  for (const file of files) found.push(...findState(file.slice(folder.length), await readFile(root + file, "utf8")));
  expect(found.toSorted()).toEqual(Object.keys(allowed).toSorted());
});

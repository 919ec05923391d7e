import type { TestHost } from "@thinkery/sdk/test";
import { zipSync } from "fflate";
import { changePairs, createManyFiles, createPairZip, largeZips, padName } from "./expensive-files.ts";
import { packageAgents, packageRequests } from "./expensive-packages.ts";
import type { ExpensiveRequest, LargeAgent } from "./expensive-request.ts";
import { scheduleAgents, scheduleRequests } from "./expensive-schedules.ts";
import { endlessScript, subagentAgents, subagentRequests } from "./expensive-subagents.ts";
import { taskAgents, taskRequests } from "./expensive-tasks.ts";
import { teamAgents, teamRequests } from "./expensive-teams.ts";

const ok = [200, 201];

/** Scripts of the agents: they call a tool with the message, or have expressions that backtrack. */
export const expensiveScripts = {
  endless: endlessScript,
  glob: [{ steps: [{ call: { tool: "glob", input: { pattern: "{{ message }}" } } }, { text: "done" }] }],
  grep: [{ steps: [{ call: { tool: "grep", input: { pattern: "{{ message }}" } } }, { text: "done" }] }],
  props: [{ steps: [{ call: { tool: "t", input: { a: "{{ message }}" } } }, { text: "done" }] }],
  patterns: [
    { when: "/^(a+)+$/", steps: [{ text: "1" }] },
    { when: "/(x+x+)+y/", steps: [{ text: "2" }] },
    { when: "/([b-d]|[c-e])*[f-h]$/", steps: [{ text: "3" }] },
    { when: "/(?:(?:g?){30}){30}z/", steps: [{ text: "4" }] },
    { when: "(.*)*(.*)*(.*)*(.*)*(.*)*q$", steps: [{ text: "5" }] },
    { steps: [{ text: "none" }] },
  ],
};

const scripted = (name: keyof typeof expensiveScripts) => ({ name, model: `scripted:${name}` });

export const largeAgents: readonly LargeAgent[] = [
  ...packageAgents,
  ...taskAgents,
  ...scheduleAgents,
  ...subagentAgents,
  ...teamAgents,
  {
    // 3,000 files, all of them changed in version 2; the branch `try` has them as before.
    name: "many",
    async create(host) {
      const agent = await host.agent("many");
      await agent.putArchive(zipSync(createManyFiles("first")));
      await agent.createBranch({ name: "try" });
      await agent.putArchive(zipSync(createManyFiles("second")));
    },
  },
  // Of their own, because they get more files and branches with each request.
  ...["edits", "branches"].map((name) => ({
    name,
    async create(host: TestHost) {
      const agent = await host.agent(name);
      for (const text of ["first", "second"]) await agent.putArchive(zipSync(createManyFiles(text)));
    },
  })),
  {
    // Large texts in pairs that are hard to compare: version 1, version 2, and a third text on the branch `other`.
    name: "texts",
    async create(host) {
      const agent = await host.agent("texts");
      await agent.putArchive(createPairZip("base"));
      await agent.createBranch({ name: "other" });
      await agent.putArchive(createPairZip("mine"));
      await agent.putArchive(createPairZip("theirs"), { branch: "other" });
    },
  },
  {
    // Binary files whose long names are the same once shortened: each one needs a conflict copy.
    name: "conflicts",
    async create(host) {
      const agent = await host.agent("conflicts");
      const create = (byte: number) =>
        zipSync(
          Object.fromEntries(
            Array.from({ length: 400 }, (_, index) => [padName(index), new Uint8Array([0, byte, index % 256])]),
          ),
        );
      await agent.putArchive(create(1));
      await agent.createBranch({ name: "other" });
      await agent.putArchive(create(2));
      await agent.putArchive(create(3), { branch: "other" });
    },
  },
  {
    // A folder that was moved 40 times, with a text that was edited 200 times.
    name: "history",
    async create(host) {
      const agent = await host.agent("history");
      await agent.editFiles([...Array(40).keys()].map((index) => ({ write: `f0/${index}.txt`, content: `${index}` })));
      await agent.createBranch({ name: "old" });
      for (let move = 0; move < 40; move++) await agent.editFiles([{ move: `f${move}`, to: `f${move + 1}` }]);
      const line = "a line of a text that is edited again and again\n".repeat(200);
      for (let edit = 0; edit < 200; edit++) await agent.putFile("edited.txt", `${edit}\n${line}`);
    },
  },
  ...(["glob", "grep"] as const).map((name) => ({
    ...scripted(name),
    async create(host: TestHost) {
      await (await host.agent(name, { model: `scripted:${name}` })).putArchive(zipSync(createManyFiles("x")));
    },
  })),
  ...(["props", "patterns"] as const).map((name) => ({
    ...scripted(name),
    async create(host: TestHost) {
      await host.agent(name, { model: `scripted:${name}` });
    },
  })),
];

const get = (kind: string, agent: string, paths: readonly string[]): ExpensiveRequest[] =>
  paths.map((path) => ({ kind, what: `GET ${agent} ${path}`, statuses: ok, agent, method: "GET", path }));

const post = (
  kind: string,
  agent: string,
  path: string,
  bodies: Record<string, unknown>,
  statuses: readonly number[] = ok,
): ExpensiveRequest[] =>
  Object.entries(bodies).map(([what, body]) => ({ kind, what, statuses, agent, method: "POST", path, body }));

const moves = (count: number, back: boolean) =>
  Array.from({ length: count }, (_, index) => ({
    move: index === 0 ? "src" : `moved-${index - 1}`,
    to: back && index === count - 1 ? "src" : `moved-${index}`,
  }));

const writes = (count: number, toPath: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => ({ write: toPath(index), content: `text ${index}` }));

/** Has an agent call a tool or match a script with each of these messages. */
const talk = (agent: keyof typeof expensiveScripts, messages: Record<string, string>): ExpensiveRequest[] =>
  post(
    agent,
    agent,
    "/serve",
    Object.fromEntries(Object.entries(messages).map(([what, message]) => [what, { agent, message }])),
  );

/** A tool whose schema is given with the request. */
const withSchema = (parameters: object, message = "x") => ({
  agent: "props",
  message,
  props: { tools: [{ name: "t", description: "d", parameters, code: "return 1" }] },
});

const nest = (depth: number, wrap: (inner: object) => object): object =>
  Array.from({ length: depth }).reduce<object>((inner) => wrap(inner), { type: "string" });

const objectOf = (a: unknown, more: object = {}) => ({ type: "object", properties: { a }, ...more });

const doubling = (key: string) =>
  objectOf(
    { $ref: "#/$defs/d0" },
    {
      $defs: Object.fromEntries(
        Array.from({ length: 60 }, (_, level) => [
          `d${level}`,
          level === 59 ? { type: "string" } : { [key]: [1, 2].map(() => ({ $ref: `#/$defs/d${level + 1}` })) },
        ]),
      ),
    },
  );

const range = (count: number) => [...Array(count).keys()];
const a30 = `${"a".repeat(9_000)}!`;

/** Requests of a chat client that are small to send and as much work as possible. */
export const expensiveRequests: readonly ExpensiveRequest[] = [
  ...packageRequests,
  ...taskRequests,
  ...scheduleRequests,
  ...subagentRequests,
  ...teamRequests,
  ...get("list", "many", ["files?version=1", "files?version=1&under=src", "files?version=1&limit=1"]),
  ...get("list", "history", ["files?version=1", "files/f0/1.txt?version=1", "files/edited.txt?version=42", "versions"]),
  ...get("list", "history", ["versions?path=f0", "versions?path=f40/1.txt", "events?limit=500", "state", "export"]),
  ...get("diff", "many", ["versions/1", "versions/2", "versions/2?path=src", "versions/2?path=src/folder-1"]),
  ...get("diff", "texts", [
    "versions/2",
    "versions/3",
    ...changePairs.map(({ name }) => `versions/2?path=${name}.txt`),
  ]),
  ...get("diff", "history", ["versions/2", "versions/41", "versions/42", "versions/241"]),
  ...get("archive", "many", ["archive", "archive?version=1", "archive?branch=try", "archive?version=1&under=src"]),
  ...get("archive", "texts", ["archive", "archive?version=1", "archive?branch=other"]),
  ...get("archive", "history", ["archive?version=1", "archive?version=60"]),
  ...largeZips.map(({ what, zip }): ExpensiveRequest => ({
    kind: "archive",
    what,
    statuses: [...ok, 400, 409, 413],
    agent: "many",
    method: "PUT",
    path: "archive?branch=try",
    body: zip(),
  })),
  ...post("revert", "many", "revert", { "a large version": { version: 2, dryRun: true } }),
  ...post("revert", "many", "revert", { "the first version": { version: 1, dryRun: true } }),
  ...post("revert", "texts", "revert", { "large texts": { version: 2, dryRun: true } }, [...ok, 413]),
  ...post("revert", "conflicts", "revert", { "binary files": { version: 2, dryRun: true } }),
  ...post("revert", "history", "revert", { "a move long ago": { version: 2, dryRun: true } }),
  ...post("revert", "history", "revert", { "an edit long ago": { version: 43, dryRun: true } }),
  ...post("merge", "many", "branches/try/merge", { "a large branch": { dryRun: true } }),
  ...post("merge", "many", "branches/try/merge", { "the parent of a large branch": { into: "try", dryRun: true } }, [
    ...ok,
    409,
  ]),
  ...post("merge", "texts", "branches/other/merge", { "large texts": { dryRun: true } }, [...ok, 413]),
  ...post("merge", "conflicts", "branches/other/merge", { "conflict copies": { dryRun: true } }),
  ...post("merge", "history", "branches/old/merge", { "a branch from long ago": { dryRun: true } }),
  ...post("check", "many", "branches/try/merge", { "of a large workspace": { check: "exit 1" } }, [200, 201, 403, 409]),
  ...post(
    "check",
    "conflicts",
    "branches/other/merge",
    { "of conflict copies": { check: "exit 1" } },
    [200, 201, 403, 409],
  ),
  ...post("branch", "branches", "branches", { "from an old version": { version: 1 }, "from now": {} }),
  ...post("branch", "texts", "branches", { "of large texts": { version: 1 } }),
  ...post("branch", "history", "branches", { "long ago": { version: 1 } }),
  ...post("edit", "edits", "files", { "chained folder moves": { edits: moves(100, false) } }, [413]),
  ...post("edit", "edits", "files", {
    "folder moves back and forth": { edits: moves(4, true) },
    "1,000 new files": { edits: writes(1000, (index) => `new/${index}.txt`) },
    "deep folders": { edits: writes(150, (index) => `${index}/${range(30).join("/")}/a`) },
    "a rebase of a folder's move": {
      edits: [
        { move: "src", to: "elsewhere" },
        { move: "elsewhere", to: "src" },
      ],
      base: 1,
    },
    "a rebase of 1,000 texts": {
      edits: writes(1000, (index) => `src/folder-${index % 50}/file-${index}.txt`),
      base: 1,
    },
  }),
  ...post(
    "edit",
    "edits",
    "files",
    {
      "names that differ in case": { edits: writes(1000, (index) => `${index % 2 ? "Aa" : "aA"}${index >> 1}`) },
      "a file inside of each file": {
        edits: writes(1000, (index) => `src/folder-1/file-${1 + 50 * (index % 60)}.txt/a`),
      },
      "long names": { edits: writes(1000, padName) },
    },
    [...ok, 409],
  ),
  ...post(
    "edit",
    "texts",
    "files",
    Object.fromEntries(
      changePairs.map(({ name, theirs }) => [
        `a rebase of ${name}`,
        { edits: [{ write: `${name}.txt`, content: theirs() }], base: 1 },
      ]),
    ),
    // Conflict markers make the text longer each time.
    [...ok, 413],
  ),
  ...talk("glob", {
    "alternatives of alternatives": "{a,b}".repeat(12),
    "64 alternatives": `{${range(64).map((index) => `**/*${index}*`)}}`,
    "many folders": "**/".repeat(60) + "x",
    "many stars": "*a".repeat(60),
    "nested braces": "{".repeat(20) + "a" + ",b}".repeat(20),
    classes: "[a-z]*[!0-9]*".repeat(20),
    "question marks": "?*".repeat(100),
  }),
  ...talk("grep", {
    "nested repetition": "(l+i+)+x",
    everything: ".",
    nothing: "zzzz",
  }),
  ...talk("patterns", {
    "nested repetition": a30,
    "x again and again": "x".repeat(9_000),
    overlapping: "c".repeat(9_000),
    "optional thousands of times": "g".repeat(9_000),
    "a long text": "lorem ipsum ".repeat(5_000),
  }),
  ...post(
    "schema",
    "props",
    "/serve",
    {
      "doubling allOf": withSchema(doubling("allOf")),
      "doubling anyOf": withSchema(doubling("anyOf")),
      "doubling oneOf": withSchema(doubling("oneOf")),
      recursive: withSchema(objectOf({ $ref: "#" })),
      "a wide union": withSchema(objectOf({ anyOf: range(1200).map((index) => ({ const: index })) })),
      "a wide union of objects": withSchema(
        objectOf({ anyOf: range(800).map((index) => objectOf({ const: index }, { required: ["a"] })) }),
      ),
      "a long enumeration": withSchema(objectOf({ enum: range(5000).map((index) => `value ${index}`) })),
      "many properties": withSchema({
        type: "object",
        properties: Object.fromEntries(range(1500).map((index) => [`p${index}`, { type: "string" }])),
      }),
      "deep unions": withSchema(objectOf(nest(20, (inner) => ({ anyOf: [inner, { type: "number" }] })))),
      "a pattern that backtracks": withSchema(objectOf({ type: "string", pattern: "^(a+)+$" }), a30),
      "names that backtrack": withSchema(
        objectOf({ type: "object", patternProperties: { "^(a+)+$": { type: "string" } } }),
        a30,
      ),
      "negations of negations": withSchema(objectOf(nest(20, (inner) => ({ not: inner })))),
    },
    [...ok, 400],
  ),
  ...post(
    "body",
    "props",
    "/serve",
    {
      "deep arrays": `{"agent":"props","message":"x","props":{"a":${"[".repeat(5000)}${"]".repeat(5000)}}}`,
      "many keys": {
        agent: "props",
        message: "x",
        props: Object.fromEntries(range(40_000).map((key) => [`k${key}`, 1])),
      },
      "a long message": { agent: "props", message: "long ".repeat(100_000) },
      "escaped characters": { agent: "props", message: "\u0001".repeat(100_000) },
      "unknown keys": Object.fromEntries(range(40_000).map((key) => [`k${key}`, 1])),
    },
    [...ok, 400, 413],
  ),
];

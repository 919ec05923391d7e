// Types, taste, and the one thing worth a linter of our own: imports only go down.

/**
 * The layers of the Worker, lowest first. A folder may import the folders of lower rows, and of its own those listed
 * below.
 */
const rows = [
  ["store", "policy"],
  ["workspace", "sandbox", "model", "host"],
  ["tools"],
  ["drivers", "middleware"],
  ["turn"],
  ["system"],
  ["agency", "user", "schedules"],
  ["objects"],
  ["http"],
];

/** The parts of a turn, lowest first. */
const turnParts = ["budget", "calls", "loop", "admission"];

/** Imports between folders of one row. Without an entry here, they are errors. */
const sameRow = { sandbox: ["host"], model: ["host"], workspace: ["host"] };

const packages = { runtime: "@thinkery/runtime", daemon: "thinkery", dashboard: "@thinkery/dashboard" };

/** Runtime, daemon and dashboard never import each other; sdk imports none of them. */
const foreign = (own) => ({
  group: Object.entries(packages)
    .filter(([folder]) => folder !== own)
    .flatMap(([folder, name]) => [name, `${name}/*`, `**/packages/${folder}/**`, `**/${folder}/src/**`]),
  message: "Packages meet in @thinkery/sdk only.",
});

/** Everything in the sdk runs in Workers, Node and the browser alike. */
const platforms = {
  group: ["node:*", "cloudflare:*", "agents", "agents/*"],
  message: "The sdk belongs to no platform.",
};

/** Only a few files start processes. */
const spawning = {
  group: ["node:child_process", "child_process"],
  message:
    "Only host/process.ts, workflow/shell.ts, cli/launch.ts, cli/browser.ts, cli/waits/editor.ts and doctor/program.ts start processes.",
};

/** Examples are written as a user of the sdk would write them. */
const internals = { group: ["@thinkery/sdk/internal"], message: "@thinkery/sdk/internal is not public." };

const ban = (...patterns) => ({ "no-restricted-imports": ["error", { patterns }] });

const under = (folders) => folders.map((folder) => `../**/${folder}/**`);

/** An empty group is not a rule, so it is left out. */
const layer = (folder, row, index) => ({
  files: [`packages/runtime/src/${folder}/**`],
  rules: ban(foreign("runtime"), ...bansOf(folder, row, index)),
});

const bansOf = (folder, row, index) => {
  const siblings = row.filter((other) => other !== folder && !sameRow[folder]?.includes(other));
  const bans = [
    { group: under(rows.slice(index + 1).flat()), message: `Imports only go down, and ${folder} is below that.` },
    {
      group: under(siblings),
      message: `${folder} is in the same row as that. To allow the import, add it to sameRow.`,
    },
  ];
  return bans.filter(({ group }) => group.length > 0);
};

const turnLayer = (part, index) => {
  const row = rows.findIndex((folders) => folders.includes("turn"));
  const above = {
    group: under(turnParts.slice(index + 1)),
    message: `Imports only go down, and turn/${part} is below that.`,
  };
  return {
    files: [`packages/runtime/src/turn/${part}/**`],
    rules: ban(foreign("runtime"), ...bansOf("turn", ["turn"], row), ...(above.group.length > 0 ? [above] : [])),
  };
};

const layers = [
  ...rows.flatMap((row, index) => row.map((folder) => layer(folder, row, index))),
  ...turnParts.map(turnLayer),
];

export default {
  plugins: ["typescript", "import", "unicorn", "oxc"],
  jsPlugins: ["./scripts/lint-names.mjs"],
  categories: { correctness: "error", suspicious: "error" },
  rules: {
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "max-lines": ["warn", { max: 300, skipBlankLines: true, skipComments: true }],
    "thinkery/limit-names": "error",
    "no-warning-comments": ["error", { terms: ["todo", "fixme", "xxx"] }],
    "no-shadow": "off",
    // It does not see what another task changes while this one awaits.
    "no-unmodified-loop-condition": "off",
    "no-underscore-dangle": "off",
    "import/no-unassigned-import": "off",
    "unicorn/consistent-function-scoping": "off",
    "unicorn/no-array-sort": "off",
    "typescript/no-explicit-any": "error",
    "typescript/ban-ts-comment": "error",
  },
  ignorePatterns: ["**/dist/**", "packages/runtime/shims/**", "test-output/**", "bench/results/**", "bench/peers/**"],
  overrides: [
    { files: ["packages/sdk/src/**"], rules: ban(foreign("sdk"), platforms) },
    // Tests, and what there is for the tests of others, run in Node.
    { files: ["packages/sdk/src/**/*.test.ts", "packages/sdk/src/test/**"], rules: ban(foreign("sdk")) },
    { files: ["packages/runtime/src/*.ts"], rules: ban(foreign("runtime")) },
    ...layers,
    // The environment names the objects' classes, and they name it. Only types: an object's class is never imported
    // there.
    { files: ["packages/runtime/src/objects/**"], rules: { "import/no-cycle": ["error", { ignoreTypes: true }] } },
    { files: ["packages/dashboard/src/**"], rules: ban(foreign("dashboard")) },
    { files: ["packages/daemon/src/**"], rules: ban(foreign("daemon"), spawning) },
    {
      files: [
        "packages/daemon/src/host/process.ts",
        "packages/daemon/src/workflow/shell.ts",
        "packages/daemon/src/cli/launch.ts",
        "packages/daemon/src/cli/browser.ts",
        "packages/daemon/src/cli/waits/editor.ts",
        "packages/daemon/src/doctor/program.ts",
        "packages/daemon/src/host/fixture.ts",
        "packages/daemon/src/**/*.test.ts",
      ],
      rules: ban(foreign("daemon")),
    },
    { files: ["examples/**"], rules: ban(internals) },
    // Tests and their fixtures are tables of cases.
    {
      files: ["**/*.test.ts", "tests/**", "packages/**/*-double.ts", "packages/**/*.fixture.ts"],
      rules: { "max-lines": ["warn", { max: 400, skipBlankLines: true, skipComments: true }] },
    },
    // What a response holds is what a test is there to find out.
    { files: ["**/*.test.ts"], rules: { "typescript/no-explicit-any": "off" } },
  ],
};

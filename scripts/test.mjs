// `npm test`: installs, checks, builds, then runs the tests with a random sample of each large corpus.
// `npm run test:long`: the same with complete corpora; options such as `--kills 2000` go beyond that.
// `--record-durations` updates tests/durations.json, which makes slow files start first.
// Other arguments go to vitest, such as the path of a folder to run only its tests.
import { parseArgs } from "node:util";
import { install } from "./install.mjs";

/** Each sets `COUNT_<NAME>`, which `getRepeatCount` in tests/kit/sample.ts reads. */
const sizes = ["kills", "workspace-kills", "edits", "bombs"];
const options = {
  long: { type: "boolean" },
  "record-durations": { type: "boolean" },
  seed: { type: "string" },
  ...Object.fromEntries(sizes.map((size) => [size, { type: "string" }])),
};

const startedAt = Date.now();
const args = process.argv.slice(2);
const { values, tokens } = parseArgs({ args, options, strict: false, tokens: true });
const ownArgs = new Set(
  tokens.flatMap(({ kind, name, index, inlineValue }) => {
    if (kind !== "option" || !Object.hasOwn(options, name)) return [];
    return options[name].type === "boolean" || inlineValue ? [index] : [index, index + 1];
  }),
);
const env = { ...process.env };
if (values.long) env.LONG = "1";
if (values["record-durations"]) env.RECORD_DURATIONS = "1";
if (values.seed !== undefined) env.SEED = values.seed;
for (const size of sizes)
  if (values[size] !== undefined) env[`COUNT_${size.toUpperCase().replaceAll("-", "_")}`] = values[size];

const log = (line) => console.error(line);
install({ log });
const { runOrExit, run, tool } = await import("./run.mjs");
await runOrExit(process.execPath, ["scripts/check.mjs"]);
const { build } = await import("./build.mjs");
await build({ log });
const code = await run(tool("vitest"), ["run", ...args.filter((_, index) => !ownArgs.has(index))], { env });
if (values.long) {
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  log(`Total time: ${Math.floor(seconds / 60)} min ${seconds % 60} s, install, check and build included.`);
}
process.exitCode = code;

// `npm run test:crash -- --kills 2000 [--seed N]`: the crash tests, for longer than CI has time.
// `npm run test:crash -- --workspace [--edits 1000] [--kills 20]`: only people and an agent who edit the same files.
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { must, tool } from "./run.mjs";

const { values } = parseArgs({
  options: { kills: { type: "string" }, seed: { type: "string" }, workspace: { type: "boolean", default: false }, edits: { type: "string", default: "1000" } },
});
const sizes = values.workspace ? { CRASH_EDITS: values.edits, CRASH_WORKSPACE_KILLS: values.kills ?? "20" } : { CRASH_KILLS: values.kills ?? "1000" };
await build({ say: (line) => console.error(line) });
await must(tool("vitest"), ["run", values.workspace ? "tests/crash/workspace.test.ts" : "tests/crash"], {
  env: { ...process.env, ...sizes, ...(values.seed ? { SEED: values.seed } : {}) },
});

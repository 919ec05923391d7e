// `npm run test:crash -- --kills 2000 [--seed N]`: the crash tests, for longer than CI has time.
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { must, tool } from "./run.mjs";

const { values } = parseArgs({ options: { kills: { type: "string", default: "1000" }, seed: { type: "string" } } });
await build({ say: (line) => console.error(line) });
await must(tool("vitest"), ["run", "tests/crash"], {
  env: { ...process.env, CRASH_KILLS: values.kills, ...(values.seed ? { SEED: values.seed } : {}) },
});

// `npm run check`: types, lint with the layer rules, unused code. Two at a time: each of them leaves a core idle in part.
import { run, tool } from "./run.mjs";

// The slowest first.
const projects = [
  "packages/runtime",
  "tests",
  "tests/tsconfig.worker.json",
  "packages/dashboard",
  "packages/daemon",
  "examples/customer-service",
  "examples/security-team",
  "bench",
  "packages/sdk",
  "packages/sdk/src/test",
];

const steps = [
  ...projects.map((project) => ["tsc", "-p", project]),
  ["knip", "--no-progress"],
  ["oxlint", "-c", "oxlint.config.mjs", "--deny-warnings", "--quiet"],
];

let failure = 0;

async function work() {
  for (let step = steps.shift(); step && failure === 0; step = steps.shift()) {
    const [name, ...args] = step;
    const code = await run(tool(name), args);
    if (code !== 0) failure = code;
  }
}

await Promise.all([work(), work()]);
process.exit(failure);

// `npm run check`: types, unused code, formatting and lint. Runs two steps at a time, because none of them uses a whole
// core.
import { run, tool } from "./run.mjs";

// Slowest first.
const projects = [
  "packages/runtime",
  "tests",
  "tests/tsconfig.worker.json",
  "packages/dashboard",
  "packages/daemon",
  "examples/agents",
  "examples/customer-service",
  "examples/refactor-team",
  "examples/security-team",
  "bench",
  "packages/sdk",
  "packages/sdk/src/test",
];

const steps = [
  ...projects.map((project) => ["tsc", "-p", project]),
  ["knip", "--no-progress"],
  ["oxfmt", "--check", "."],
  ["oxlint", "-c", "oxlint.config.mjs", "--deny-warnings"],
];

let failure = 0;

async function runSteps() {
  for (let step = steps.shift(); step && failure === 0; step = steps.shift()) {
    const [name, ...args] = step;
    const code = await run(tool(name), args);
    if (code !== 0) failure = code;
  }
}

await Promise.all([runSteps(), runSteps()]);
process.exit(failure);

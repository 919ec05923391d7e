// `npm run check`: types, lint with the layer rules, unused code.
import { must, tool } from "./run.mjs";

for (const project of ["packages/sdk", "packages/sdk/src/test", "packages/runtime", "packages/daemon", "packages/dashboard", "tests", "tests/tsconfig.worker.json", "bench", "examples/customer-service", "examples/security-team"]) {
  await must(tool("tsc"), ["-p", project]);
}
await must(tool("oxlint"), ["-c", "oxlint.config.mjs", "--deny-warnings", "--quiet"]);
await must(tool("knip"), ["--no-progress"]);

// `npm run bench [-- name …]`: builds, then runs the benchmarks one after the other.
import { build } from "./build.mjs";
import { run } from "./run.mjs";

await build({ log: (line) => console.error(line) });
process.exit(
  await run(process.execPath, ["--import", "./scripts/typescript.mjs", "bench/kit/main.ts", ...process.argv.slice(2)]),
);

// `npm run test:load -- --bombs 50`: sandboxes under fire, for longer than CI has time.
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { must, tool } from "./run.mjs";

const { values } = parseArgs({ options: { bombs: { type: "string", default: "50" } } });
await build({ say: (line) => console.error(line) });
await must(tool("vitest"), ["run", "tests/attack/sandbox/bombs.test.ts"], { env: { ...process.env, SANDBOX_BOMBS: values.bombs } });

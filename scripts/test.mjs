// `npm test`: installs, checks, builds, then runs every test. Arguments go to vitest.
import { install } from "./install.mjs";

const say = (line) => console.error(line);
install({ say });
const { must, tool } = await import("./run.mjs");
await must(process.execPath, ["scripts/check.mjs"]);
const { build } = await import("./build.mjs");
await build({ say });
await must(tool("vitest"), ["run", ...process.argv.slice(2)]);

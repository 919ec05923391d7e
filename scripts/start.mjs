// `npm start`: installs, builds stale parts, and runs the host in the foreground.
import { install } from "./install.mjs";

const log = (line) => console.error(line);
install({ log });
const { build } = await import("./build.mjs");
await build({ log });
const { run } = await import("./run.mjs");
process.exit(
  await run(process.execPath, ["packages/daemon/dist/thinkery.js", "start", "--foreground", ...process.argv.slice(2)]),
);

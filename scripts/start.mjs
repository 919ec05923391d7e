// `npm start`: installs, builds what is stale, and runs the host in the foreground.
import { install } from "./install.mjs";

const say = (line) => console.error(line);
install({ say });
const { build } = await import("./build.mjs");
await build({ say });
const { run } = await import("./run.mjs");
process.exit(
  await run(process.execPath, ["packages/daemon/dist/thinkery.js", "start", "--foreground", ...process.argv.slice(2)]),
);

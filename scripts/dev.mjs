// `npm run dev`: rebuilds on changes and restarts the host.
import { spawn } from "node:child_process";
import { watch } from "node:fs";
import { install } from "./install.mjs";
import { root } from "./root.mjs";

const log = (line) => console.error(line);
install({ log });
const { build } = await import("./build.mjs");

let host;
let timer;
let isBuilding = false;
let hasChanged = false;

async function rebuild() {
  if (isBuilding) {
    hasChanged = true;
    return;
  }
  isBuilding = true;
  try {
    const built = await build({ log });
    if (built.length > 0 || !host) await restart();
  } catch (error) {
    log(`build failed; the host keeps running\n${error.message}`);
  }
  isBuilding = false;
  if (hasChanged) {
    hasChanged = false;
    await rebuild();
  }
}

async function restart() {
  if (host) {
    const exited = new Promise((resolve) => host.once("exit", resolve));
    host.kill("SIGTERM");
    await exited;
  }
  host = spawn(
    process.execPath,
    ["packages/daemon/dist/thinkery.js", "start", "--foreground", ...process.argv.slice(2)],
    {
      cwd: root,
      stdio: "inherit",
      // In its own process group, so that Ctrl+C reaches it only once, through us.
      detached: true,
    },
  );
}

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    if (!host || host.exitCode !== null) process.exit(0);
    host.once("exit", () => process.exit(0));
    host.kill("SIGTERM");
  });
}

for (const name of ["sdk/src", "runtime/src", "daemon/src", "dashboard/src"]) {
  watch(`${root}packages/${name}`, { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(rebuild, 100);
  });
}
await rebuild();

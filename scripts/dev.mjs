// `npm run dev`: rebuilds what changed and restarts the host with it.
import { spawn } from "node:child_process";
import { watch } from "node:fs";
import { install } from "./install.mjs";
import { root } from "./root.mjs";

const say = (line) => console.error(line);
install({ say });
const { build } = await import("./build.mjs");

let host;
let timer;
let busy = false;
let again = false;

async function round() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  try {
    const built = await build({ say });
    if (built.length > 0 || !host) await restart();
  } catch (error) {
    say(`the build failed; the host goes on as it was\n${error.message}`);
  }
  busy = false;
  if (again) {
    again = false;
    await round();
  }
}

async function restart() {
  if (host) {
    const gone = new Promise((resolve) => host.once("exit", resolve));
    host.kill("SIGTERM");
    await gone;
  }
  host = spawn(
    process.execPath,
    ["packages/daemon/dist/thinkery.js", "start", "--foreground", ...process.argv.slice(2)],
    {
      cwd: root,
      stdio: "inherit",
      // In a group of its own: a Ctrl+C then reaches it through us, once.
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
    timer = setTimeout(round, 100);
  });
}
await round();

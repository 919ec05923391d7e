// Installs what the lockfile names, when it has not been installed yet or has changed since.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.mjs";

const mark = join(root, "node_modules/.installed-lockfile");

export function install({ say = () => {} } = {}) {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(`Thinkery needs Node 20.19 or newer; this is ${process.version}.`);
    process.exit(1);
  }
  const lockfile = readFileSync(join(root, "package-lock.json"), "utf8");
  if (read(mark) === lockfile) return;
  say("installing what is needed (once) …");
  // Not `npm ci`: it refuses a lockfile that lacks optional binaries of other platforms, and a registry need not have them all.
  const npm = spawnSync("npm", ["install", "--no-save", "--no-fund", "--no-audit", "--loglevel=error"], {
    cwd: root,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (npm.status !== 0) {
    process.stderr.write(npm.stderr || String(npm.error ?? ""));
    console.error("npm could not install the packages. Are you online?");
    process.exit(1);
  }
  writeFileSync(mark, lockfile);
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

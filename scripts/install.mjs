// Installs the packages of the lockfile, unless that was already done.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.mjs";

const markerFile = join(root, "node_modules/.installed-lockfile");

export function install({ log = () => {} } = {}) {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(`Thinkery needs Node 20.19 or newer; this is ${process.version}.`);
    process.exit(1);
  }
  const lockfile = readFileSync(join(root, "package-lock.json"), "utf8");
  if (read(markerFile) === lockfile) return;
  log("installing packages …");
  // Not `npm ci`: it rejects a lockfile that lacks optional binaries of other platforms, which some registries do not
  // have.
  const npm = spawnSync("npm", ["install", "--no-save", "--no-fund", "--no-audit", "--loglevel=error"], {
    cwd: root,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (npm.status !== 0) {
    process.stderr.write(npm.stderr || String(npm.error ?? ""));
    console.error("npm failed to install the packages. Check your network connection.");
    process.exit(1);
  }
  writeFileSync(markerFile, lockfile);
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

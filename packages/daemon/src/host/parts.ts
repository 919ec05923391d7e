import { readFileSync, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { fail } from "@thinkery/sdk";
import type { Module } from "./workerd-config.ts";

/** The other outputs of the build, next to the bundled daemon. */
export interface BuildParts {
  version: string;
  main: Module[];
  sandbox: Module[];
  slotPool: Module[];
  blobIndex: Module[];
  page: string;
}

/** `folder` contains the bundled daemon itself. */
export function locateParts(folder = fileURLToPath(new URL(".", import.meta.url))): BuildParts {
  try {
    const { version } = JSON.parse(readFileSync(join(folder, "build.json"), "utf8")) as { version: string };
    return {
      version,
      main: listModules(join(folder, "worker", "main"), "main.js"),
      sandbox: listModules(join(folder, "worker", "sandbox"), "sandbox.js"),
      slotPool: listModules(join(folder, "worker", "slot-pool"), "slot-pool.js"),
      blobIndex: listModules(join(folder, "worker", "blob-index"), "blob-index.js"),
      page: join(folder, "page"),
    };
  } catch {
    throw fail("unavailable", "The build of Thinkery is incomplete. Run npm run build and try again.");
  }
}

/** Lists the modules of a bundle, the entry first. */
export function listModules(folder: string, entry: string): Module[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && file.name.endsWith(".js"))
    .map((file) => relative(folder, join(file.parentPath, file.name)).split(sep).join("/"));
  if (!names.includes(entry)) throw new Error(`no ${entry}`);
  return [entry, ...names.filter((name) => name !== entry).toSorted()].map((name) => ({
    name,
    path: join(folder, name),
  }));
}

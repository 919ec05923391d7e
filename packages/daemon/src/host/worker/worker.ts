import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join, relative, resolve } from "node:path";
import { fail } from "@thinkery/sdk";
import { listModules } from "../parts.ts";
import type { Module } from "../workerd-config.ts";
import { checkExports, toBuildError } from "./build-error.ts";
import { findBundler } from "./bundler.ts";

/** A bundled custom Worker, which main runs in place of the stock one. */
export interface BundledWorker {
  /** The file it was bundled from. */
  entry: string;
  /** Its name in API responses, which must not reveal its path on this machine. */
  label: string;
  files: { name: string; contents: Uint8Array }[];
  /** All source files of the bundle. */
  inputs: string[];
}

/** A Worker written to the home, ready to be started. */
export interface InstalledWorker extends Pick<BundledWorker, "entry" | "label"> {
  modules: Module[];
}

const extensions = [".ts", ".mts", ".js", ".mjs"];

/** Throws if the file cannot be a Worker. */
export function checkEntry(entry: string): void {
  const found = statSync(entry, { throwIfNoEntry: false });
  if (!found) throw fail("bad_request", `There is no file ${entry}. Pass the file that exports your Worker.`);
  if (!found.isFile() || !extensions.includes(extname(entry))) {
    throw fail("bad_request", `${entry} is not a Worker. Pass a file that ends in ${extensions.join(", ")}.`);
  }
}

/** Bundles a Worker in memory. The Worker's @thinkery/runtime must match the host's `version`. */
export async function bundleWorker(entry: string, version: string, { stay = false } = {}): Promise<BundledWorker> {
  checkEntry(entry);
  const folder = dirname(entry);
  // Nothing is written there; it only has to differ from the source files.
  const out = join(folder, ".bundle");
  const { buildWorker, stop } = await findBundler(entry, version);
  try {
    // Not minified, so that line numbers in the log can be found in the bundle.
    const readable = { minifySyntax: false, minifyWhitespace: false };
    const settings = { ...readable, absWorkingDir: folder, logLevel: "silent", write: false };
    const { metafile, outputFiles } = await buildWorker(entry, out, settings).catch((error: unknown) => {
      throw toBuildError(error, folder);
    });
    checkExports(entry, metafile.outputs[".bundle/main.js"]?.exports ?? []);
    const files = outputFiles.map(({ path, contents }) => ({ name: relative(out, path), contents }));
    const inputs = Object.keys(metafile.inputs).map((input) => resolve(folder, input));
    return { entry, label: `own+${hashFiles(files)}`, files, inputs };
  } finally {
    if (!stay) await stop();
  }
}

/** Writes a Worker to where main reads it, and deletes the others unless they are still in use. */
export async function installWorker(
  { entry, label, files }: BundledWorker,
  run: string,
  used: InstalledWorker[] = [],
): Promise<InstalledWorker> {
  const all = join(run, "worker");
  const folder = join(all, label);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const usedLabels = [label, ...used.map((worker) => worker.label)];
  const old = (await readdir(all)).filter((name) => !usedLabels.includes(name));
  await Promise.all(old.map((name) => rm(join(all, name), { recursive: true, force: true })));
  await Promise.all(files.map(({ name, contents }) => writeFile(join(folder, name), contents, { mode: 0o600 })));
  return { entry, label, modules: listModules(folder, "main.js") };
}

function hashFiles(files: BundledWorker["files"]): string {
  const hash = createHash("sha256");
  for (const { name, contents } of files) hash.update(`${name}\0`).update(contents).update("\0");
  return hash.digest("hex").slice(0, 8);
}

import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join, relative, resolve } from "node:path";
import { fail } from "@thinkery/sdk";
import { listModules } from "../parts.ts";
import type { Module } from "../workerd-config.ts";
import { checkExports, toBuildError } from "./build-error.ts";
import { findBundler } from "./bundler.ts";

/** A Worker of the user's own, bundled: what main runs in place of the stock one. */
export interface BundledWorker {
  /** The file it was bundled from. */
  entry: string;
  /** How answers call it: nothing of it tells where on this machine it lies. */
  label: string;
  files: { name: string; contents: Uint8Array }[];
  /** Every file that is in it. */
  inputs: string[];
}

/** One that lies in the home, ready to be started. */
export interface InstalledWorker extends Pick<BundledWorker, "entry" | "label"> {
  modules: Module[];
}

const extensions = [".ts", ".mts", ".js", ".mjs"];

/** Refuses what cannot be the file of a Worker, before anything is done with it. */
export function checkEntry(entry: string): void {
  const found = statSync(entry, { throwIfNoEntry: false });
  if (!found) throw fail("bad_request", `There is no file ${entry}; name the file that exports your Worker.`);
  if (!found.isFile() || !extensions.includes(extname(entry))) {
    throw fail("bad_request", `${entry} cannot be a Worker; name a file that ends in ${extensions.join(", ")}.`);
  }
}

/** Bundles a Worker in memory. `version` is the host's; the Worker's library has to be of the same. */
export async function bundleWorker(entry: string, version: string, { stay = false } = {}): Promise<BundledWorker> {
  checkEntry(entry);
  const folder = dirname(entry);
  // Nothing is written there; only that it is the place of no other file counts.
  const out = join(folder, ".bundle");
  const { buildWorker, stop } = await findBundler(entry, version);
  try {
    // Whoever reads the log of their own Worker wants to find the place again, so lines stay lines.
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

/** Writes a Worker where main can read it. What else is there goes, but for those that are still in use. */
export async function installWorker(
  { entry, label, files }: BundledWorker,
  run: string,
  used: InstalledWorker[] = [],
): Promise<InstalledWorker> {
  const all = join(run, "worker");
  const folder = join(all, label);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const kept = [label, ...used.map((worker) => worker.label)];
  const old = (await readdir(all)).filter((name) => !kept.includes(name));
  await Promise.all(old.map((name) => rm(join(all, name), { recursive: true, force: true })));
  await Promise.all(files.map(({ name, contents }) => writeFile(join(folder, name), contents, { mode: 0o600 })));
  return { entry, label, modules: listModules(folder, "main.js") };
}

function hashFiles(files: BundledWorker["files"]): string {
  const hash = createHash("sha256");
  for (const { name, contents } of files) hash.update(`${name}\0`).update(contents).update("\0");
  return hash.digest("hex").slice(0, 8);
}

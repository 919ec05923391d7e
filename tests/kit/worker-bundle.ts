import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildWorker } from "../../packages/runtime/build.mjs";
import { waitUntil } from "./wait-until.ts";

/** Copies a Worker's bundle to `outdir`. It is built once per test run, however many files use it. */
export async function bundleWorker(entry: URL, outdir: string, name = "main"): Promise<void> {
  const shared = process.env.TEST_RUN_FOLDER;
  // Benchmarks have no shared folder.
  if (!shared) return void (await buildWorker(fileURLToPath(entry), outdir, { name }));
  const bundle = join(shared, createHash("sha256").update(`${entry.href} ${name}`).digest("hex"));
  const draft = `${bundle}.draft`;
  // The first test file to create the folder builds; the others wait for it.
  if (!existsSync(bundle) && (await createIfAbsent(draft))) {
    await buildWorker(fileURLToPath(entry), draft, { name });
    await rename(draft, bundle);
  }
  await waitUntil(`the bundle of ${entry.pathname}`, () => existsSync(bundle), { timeoutMs: 60_000 });
  await cp(bundle, outdir, { recursive: true });
}

async function createIfAbsent(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

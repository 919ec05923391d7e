import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildWorker } from "../../packages/runtime/build.mjs";
import { waitUntil } from "./wait-until.ts";

/** Puts a Worker's bundle into `outdir`. Within a test run it is built once, however many files start it. */
export async function bundleWorker(entry: URL, outdir: string, name = "main"): Promise<void> {
  const shared = process.env.TEST_RUN_FOLDER;
  // A benchmark.
  if (!shared) return void (await buildWorker(fileURLToPath(entry), outdir, { name }));
  const bundle = join(shared, createHash("sha256").update(`${entry.href} ${name}`).digest("hex"));
  const draft = `${bundle}.draft`;
  // Whoever makes the folder builds; files that run at the same time wait for it.
  if (!existsSync(bundle) && (await isFirst(draft))) {
    await buildWorker(fileURLToPath(entry), draft, { name });
    await rename(draft, bundle);
  }
  await waitUntil(`the bundle of ${entry.pathname}`, () => existsSync(bundle), { within: 60_000 });
  await cp(bundle, outdir, { recursive: true });
}

async function isFirst(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { cliPath } from "./host-process.ts";
import { bundleWorker } from "./worker-bundle.ts";

interface CopyOptions {
  version?: string;
  workerd?: boolean;
  /** Replaces main's Worker. */
  worker?: URL;
  /** Replaces the Worker inside the sandboxes. */
  sandbox?: URL;
}

/** Copies the build to another folder until the test ends, so that its processes can be told apart. */
export async function copyBuildForTest(options: CopyOptions = {}): Promise<string> {
  const { program, remove } = await copyBuild(options);
  onTestFinished(remove);
  return program;
}

/** Like `copyBuildForTest`, but the caller removes the copy. */
export async function copyBuild({
  version,
  workerd = true,
  worker,
  sandbox,
}: CopyOptions): Promise<{ program: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "thinkery-build-"));
  await cp(dirname(cliPath), join(folder, "dist"), { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  if (version) await writeFile(join(folder, "dist", "build.json"), JSON.stringify({ version }));
  if (workerd)
    await symlink(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(folder, "node_modules"));
  for (const [name, entry] of Object.entries({ main: worker, sandbox })) {
    if (!entry) continue;
    const code = join(folder, "dist", "worker", name);
    await rm(code, { recursive: true, force: true });
    await bundleWorker(entry, code, name);
  }
  return { program: join(folder, "dist", "thinkery.js"), remove: () => rm(folder, { recursive: true, force: true }) };
}

import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { cli } from "./house.ts";

/** Another build of Thinkery, until the test ends: the same files somewhere else, so that its processes can be told apart. */
export async function buildCopy({ version, workerd = true }: { version?: string; workerd?: boolean } = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "thinkery-build-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(dirname(cli), join(folder, "dist"), { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  if (version) await writeFile(join(folder, "dist", "build.json"), JSON.stringify({ version }));
  if (workerd) await symlink(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(folder, "node_modules"));
  return join(folder, "dist", "thinkery.js");
}

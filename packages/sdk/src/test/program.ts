import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fail } from "../protocol/errors.ts";

const packageName = "thinkery";

/** Finds the program of the package `thinkery`: the one installed in the tested project, or else the one next to us. */
export function findProgram(cwd: string = process.cwd()): string {
  const origins = [join(cwd, "package.json"), import.meta.url];
  const manifest = origins.map(resolveManifest).find((path) => path !== undefined);
  if (!manifest)
    throw fail(
      "unavailable",
      `The package ${packageName} is not installed. Run \`npm install --save-dev ${packageName}\`.`,
    );
  const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: Record<string, string> };
  const program = join(dirname(manifest), bin[packageName] ?? "");
  if (!existsSync(program))
    throw fail("unavailable", `${program} does not exist. Build Thinkery with \`npm run build\` first.`);
  return program;
}

function resolveManifest(from: string | URL): string | undefined {
  try {
    return createRequire(from).resolve(`${packageName}/package.json`);
  } catch {
    return undefined;
  }
}

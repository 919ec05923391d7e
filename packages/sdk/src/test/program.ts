import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fail } from "../protocol/errors.ts";

const name = "thinkery";

/** The program of the package `thinkery`: the one of the project that is tested, else the one that comes with us. */
export function findProgram(cwd: string = process.cwd()): string {
  const places = [join(cwd, "package.json"), import.meta.url];
  const manifest = places.map(locate).find((found) => found !== undefined);
  if (!manifest)
    throw fail(
      "unavailable",
      `The package ${name} is not installed here; install it with \`npm install --save-dev ${name}\`.`,
    );
  const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: Record<string, string> };
  const program = join(dirname(manifest), bin[name] ?? "");
  if (!existsSync(program))
    throw fail("unavailable", `${program} is missing; build Thinkery with \`npm run build\` first.`);
  return program;
}

function locate(from: string | URL): string | undefined {
  try {
    return createRequire(from).resolve(`${name}/package.json`);
  } catch {
    return undefined;
  }
}

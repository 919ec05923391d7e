import { readFile, stat } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { fail } from "@thinkery/sdk";

/** Larger files are not even read. */
const maxAppBytes = 1024 * 1024;

/** Reads an app from files: the main module, and the others by their path relative to it, as it imports them. */
export async function readAppFiles(
  cwd: string,
  main: string,
  more: readonly string[],
): Promise<{ code: string; modules?: Record<string, string> }> {
  const folder = dirname(resolve(cwd, main));
  const code = await readText(cwd, main);
  const modules: Record<string, string> = {};
  for (const file of more) {
    const path = relative(folder, resolve(cwd, file));
    if (path === relative(folder, resolve(cwd, main))) continue;
    if (path.startsWith("..") || isAbsolute(path)) {
      throw fail("bad_request", `“${file}” is outside the folder of “${main}”, so the app cannot import it.`);
    }
    modules[path.split(sep).join("/")] = await readText(cwd, file);
  }
  return more.length > 0 ? { code, modules } : { code };
}

async function readText(cwd: string, file: string): Promise<string> {
  const path = resolve(cwd, file);
  try {
    const { size } = await stat(path);
    if (size <= maxAppBytes) return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
  } catch (error) {
    if (error instanceof TypeError) throw fail("bad_request", `“${file}” is not UTF-8 text.`);
    throw fail(
      "bad_request",
      `Cannot read “${file}”: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}.`,
    );
  }
  throw fail("bad_request", `“${file}” is too large for an app (maximum ${maxAppBytes} bytes).`);
}

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fail } from "@thinkery/sdk";
import type { Cli } from "./cli.ts";
import { parseJson } from "./waits/answer-value.ts";

/** Reads a JSON value from the command line, or from a file with `@file`. */
export async function readJsonArgument(cli: Cli, given: string, name: string): Promise<unknown> {
  if (!given.startsWith("@")) return parseJson(given, name);
  const file = given.slice(1);
  const text = await readFile(resolve(cli.cwd, file), "utf8").catch((error: NodeJS.ErrnoException) => {
    throw fail("bad_request", `Cannot read ${file} (${error.code}).`);
  });
  return parseJson(text, file);
}

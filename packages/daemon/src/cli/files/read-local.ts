import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { fail } from "@thinkery/sdk";
import type { Cli } from "../cli.ts";
import { maxFileBytes } from "./connect-agent.ts";
import { formatSize } from "./format.ts";

/** Reads a local file, or stdin for `-`. */
export async function readLocalFile(cli: Cli, local: string): Promise<Uint8Array> {
  if (local === "-") return readStdin();
  try {
    const path = resolve(cli.cwd, local);
    if ((await stat(path)).size <= maxFileBytes) return await readFile(path);
  } catch (error) {
    throw fail(
      "bad_request",
      `Cannot read “${local}”: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}.`,
    );
  }
  throw createTooLargeError(`“${local}”`);
}

export async function readStdin(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxFileBytes) throw createTooLargeError("Standard input");
  }
  return Buffer.concat(chunks);
}

const createTooLargeError = (subject: string) =>
  fail("too_large", `${subject} is too large (maximum ${formatSize(maxFileBytes)}).`);

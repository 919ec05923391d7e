import { fail } from "@thinkery/sdk";
import type { Condition, Hashes } from "../../workspace/condition.ts";

/** What a request wants to be so before anything is done. */
export function readCondition({ headers }: Request): Condition {
  const match = parseHashes(headers, "if-match");
  const noneMatch = parseHashes(headers, "if-none-match");
  return { ...(match === undefined ? {} : { match }), ...(noneMatch === undefined ? {} : { noneMatch }) };
}

const hashListPattern = /^\s*(?:W\/)?"[^"]*"\s*(?:,\s*(?:W\/)?"[^"]*"\s*)*$/;

function parseHashes(headers: Headers, name: string): Hashes | undefined {
  const text = headers.get(name);
  if (text === null) return undefined;
  if (text.trim() === "*") return "*";
  if (text.length > 4000 || !hashListPattern.test(text))
    throw fail("bad_request", `${name} is not valid: write hashes in quotes, "a1b2…", or * for any.`);
  // One that is only alike is not good enough to overwrite something.
  const tags = [...text.matchAll(/(W\/)?"([^"]*)"/g)];
  return tags.filter(([, weak]) => !weak || name === "if-none-match").map(([, , hash]) => hash ?? "");
}

import { fail } from "@thinkery/sdk";
import type { Condition, Hashes } from "../../workspace/condition.ts";
import type { ByteRange } from "../../workspace/range.ts";

const pathPattern = /^\/agency\/[^/]+\/(?:agent\/[^/]+\/files|documents)\/(.*)$/s;

/**
 * Reads the path of a file or a document from a URL and decodes it once. The router would accept malformed percent-encoding, which would
 * give one file two URLs.
 */
export function readFilePath(url: string): string {
  const { pathname } = new URL(url);
  const [, encoded = ""] = pathPattern.exec(pathname) ?? [];
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw fail("bad_request", "Invalid URL: malformed percent-encoding.");
  }
}

/** Reads the precondition of a request. */
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
    throw fail("bad_request", `Invalid ${name}: expected quoted hashes ("a1b2…"), or * for any.`);
  // A weak match is not enough to overwrite a file.
  const tags = [...text.matchAll(/(W\/)?"([^"]*)"/g)];
  return tags.filter(([, weak]) => !weak || name === "if-none-match").map(([, , hash]) => hash ?? "");
}

const rangePattern = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/;

/** Rejects partial and encoded bodies: the bytes are stored as sent. */
export function checkWholeBody({ headers }: Request): void {
  if (headers.has("content-range")) throw fail("bad_request", "Partial writes are not supported. Send the whole file.");
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity")
    throw fail("unsupported_media", "Content-encoding is not supported. Send the bytes unencoded.");
}

/** Reads the requested range. Returns undefined for multiple or invalid ranges, which get the whole file. */
export function readRange({ method, headers }: Request): ByteRange | undefined {
  const [, from, to, last] = rangePattern.exec(headers.get("range")?.trim() ?? "") ?? [];
  if (method !== "GET" || (from === undefined && last === undefined)) return undefined;
  if (from !== undefined && to !== undefined && Number(to) < Number(from)) return undefined;
  const range =
    from === undefined ? { to: Number(last) } : { from: Number(from), ...(to === undefined ? {} : { to: Number(to) }) };
  const ifRange = headers.get("if-range");
  // Dates are ignored: two changes within a second would have the same one.
  return { ...range, ...(ifRange === null ? {} : { of: /^\s*"([^"]*)"\s*$/.exec(ifRange)?.[1] ?? "" }) };
}

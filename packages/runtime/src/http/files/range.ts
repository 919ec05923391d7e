import type { ByteRange } from "../../workspace/range.ts";

const rangePattern = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/;

/** The part of a file that a request is about. Several at once, and what nobody understands, are answered with all of it. */
export function readRange({ method, headers }: Request): ByteRange | undefined {
  const [, from, to, last] = rangePattern.exec(headers.get("range")?.trim() ?? "") ?? [];
  if (method !== "GET" || (from === undefined && last === undefined)) return undefined;
  if (from !== undefined && to !== undefined && Number(to) < Number(from)) return undefined;
  const place =
    from === undefined ? { to: Number(last) } : { from: Number(from), ...(to === undefined ? {} : { to: Number(to) }) };
  const known = headers.get("if-range");
  // By a date, two changes within a second would be taken for one.
  return { ...place, ...(known === null ? {} : { of: /^\s*"([^"]*)"\s*$/.exec(known)?.[1] ?? "" }) };
}

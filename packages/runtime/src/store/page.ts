import { fail } from "@thinkery/sdk";

/** Reads the `after` of a list whose pages begin after a row's number. */
export function readCursor(cursor: string | undefined, start: number): number {
  if (cursor === undefined) return start;
  if (!/^\d{1,15}$/.test(cursor)) throw fail("bad_request", "“after” is not the `next` of an earlier page.");
  return Number(cursor);
}

import type { MessageFilter } from "./context-store.ts";

type RangeFilter = Pick<MessageFilter, "after" | "upTo" | "before" | "since" | "until">;

/** Returns the first and the last number that messages of a filter can have. Dates are looked up. */
export function findMessageRange(
  sql: SqlStorage,
  { after, upTo, before, since, until }: RangeFilter,
): { first: number; last: number } {
  const firsts = [after === undefined ? 0 : after + 1, since === undefined ? 0 : findFirstAt(sql, since)];
  const lasts = [
    upTo,
    before === undefined ? undefined : before - 1,
    until === undefined ? undefined : findFirstAt(sql, until + 1) - 1,
  ];
  return { first: Math.max(...firsts), last: Math.min(...lasts.map((last) => last ?? Number.MAX_SAFE_INTEGER)) };
}

/** Returns the number of the first message of this time or later. */
function findFirstAt(sql: SqlStorage, time: number): number {
  const [row] = sql
    .exec<{ number: number }>(
      "SELECT number FROM channel_messages WHERE clock >= ? ORDER BY clock, number LIMIT 1",
      time,
    )
    .toArray();
  return row?.number ?? Number.MAX_SAFE_INTEGER;
}

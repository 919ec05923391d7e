type Read = <Row extends Record<string, SqlStorageValue>>(query: string, ...values: SqlStorageValue[]) => Row[];

/** Adds to the counts of items that are there. */
export const addToCounts = "ON CONFLICT (agent, status) DO UPDATE SET items = items + excluded.items";

/**
 * Hides a channel, and deletes its oldest messages with their inbox items and threads. Returns whether that was all:
 * then the channel is gone.
 */
export function deleteChannelPart(read: Read, name: string, maxMessages: number): boolean {
  read("UPDATE channels SET hidden = 1 WHERE name = ? AND hidden = 0", name);
  const [end] = read<{ number: number | null }>(
    `SELECT max(number) AS number FROM
       (SELECT number FROM channel_messages WHERE channel = ? ORDER BY number LIMIT ?)`,
    name,
    maxMessages,
  );
  const last = end?.number ?? 0;
  const isPart = "message IN (SELECT number FROM channel_messages WHERE channel = ? AND number <= ?)";
  read(
    `INSERT INTO inbox_counts (agent, status, items)
     SELECT agent, status, -count(*) FROM inbox_items WHERE ${isPart} GROUP BY agent, status ${addToCounts}`,
    name,
    last,
  );
  for (const table of ["inbox_items", "channel_threads"]) read(`DELETE FROM ${table} WHERE ${isPart}`, name, last);
  read("DELETE FROM channel_messages WHERE channel = ? AND number <= ?", name, last);
  if (read("SELECT 1 FROM channel_messages WHERE channel = ? LIMIT 1", name).length > 0) return false;
  read("DELETE FROM channels WHERE name = ?", name);
  return true;
}

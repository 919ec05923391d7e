import type { ToolCall } from "../model.ts";

/**
 * The order of the pieces of a response, with those that must be sent back unchanged. Text (by length) and calls (by
 * id) are references: they are in the message already, and what was removed from it must not reappear.
 */
export type Layout<Kept> = ({ text: number } | { call: string } | { kept: Kept })[];

export type Piece<Kept> = { text: string } | { call: ToolCall } | { kept: Kept };

/** Returns the pieces of a message in the order of its layout; without one, the text and then the calls. */
export function toPieces<Kept>(
  content: string,
  calls: readonly ToolCall[],
  layout: Layout<Kept> | undefined,
): Piece<Kept>[] {
  const pieces: Piece<Kept>[] = [];
  const remaining = new Map(calls.map((call) => [call.id, call]));
  let at = 0;
  for (const entry of layout ?? []) {
    if ("kept" in entry) pieces.push(entry);
    else if ("text" in entry) {
      const text = content.slice(at, at + entry.text);
      at += entry.text;
      if (text) pieces.push({ text });
    } else {
      const call = remaining.get(entry.call);
      if (call) pieces.push({ call });
      remaining.delete(entry.call);
    }
  }
  const rest = content.slice(at);
  if (rest) pieces.push({ text: rest });
  for (const call of remaining.values()) pieces.push({ call });
  return pieces;
}

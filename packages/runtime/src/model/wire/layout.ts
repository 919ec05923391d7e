import type { ToolCall } from "../model.ts";

/**
 * The order in which an answer came, with the pieces that must go back unchanged. Text and calls are only pointed to:
 * they stand in the message already, and what was taken out of it must not come back.
 */
export type Layout<Kept> = ({ text: number } | { call: string } | { kept: Kept })[];

export type Piece<Kept> = { text: string } | { call: ToolCall } | { kept: Kept };

/** The pieces of a message in the order of its layout; without one, the text and then the calls. */
export function toPieces<Kept>(
  content: string,
  calls: readonly ToolCall[],
  layout: Layout<Kept> | undefined,
): Piece<Kept>[] {
  const pieces: Piece<Kept>[] = [];
  const left = new Map(calls.map((call) => [call.id, call]));
  let at = 0;
  for (const entry of layout ?? []) {
    if ("kept" in entry) pieces.push(entry);
    else if ("text" in entry) {
      const text = content.slice(at, at + entry.text);
      at += entry.text;
      if (text) pieces.push({ text });
    } else {
      const call = left.get(entry.call);
      if (call) pieces.push({ call });
      left.delete(entry.call);
    }
  }
  const rest = content.slice(at);
  if (rest) pieces.push({ text: rest });
  for (const call of left.values()) pieces.push({ call });
  return pieces;
}

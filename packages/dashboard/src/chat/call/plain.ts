import { visible } from "../blocks.ts";

/** Characters that change the order in which others are read. In code and output they are never what they seem. */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Code, or what a program wrote, so that it reads as what it is: nothing in it turns, hides or draws over anything. */
export function plain(text: string): string {
  return visible(text.replace(turning, "\ufffd"));
}

/** The same for lines as a terminal would leave them where they were drawn over, as a bar that fills is. */
export function drawn(text: string): string {
  if (!text.includes("\r")) return plain(text);
  return plain(
    text
      .replaceAll("\r\n", "\n")
      .split("\n")
      .map((line) => line.replace(/\r+$/, "").split("\r").at(-1) ?? "")
      .join("\n"),
  );
}

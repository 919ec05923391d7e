import { showControlChars } from "../blocks.ts";

/** Characters that change the order in which others are read. In code and output they are never what they seem. */
const bidiControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Code, or what a program wrote, so that it reads as what it is: nothing in it turns, hides or draws over anything. */
export function sanitizeText(text: string): string {
  return showControlChars(text.replace(bidiControls, "\ufffd"));
}

/** The same for lines as a terminal would leave them where they were drawn over, as a bar that fills is. */
export function sanitizeTerminalText(text: string): string {
  if (!text.includes("\r")) return sanitizeText(text);
  return sanitizeText(
    text
      .replaceAll("\r\n", "\n")
      .split("\n")
      .map((line) => line.replace(/\r+$/, "").split("\r").at(-1) ?? "")
      .join("\n"),
  );
}

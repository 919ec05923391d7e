import { showControlChars } from "../blocks.ts";

/** Characters that change the reading direction. In code and output they can disguise the text. */
const bidiControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Makes code or program output safe to show: no character reorders, hides or overwrites others. */
export function sanitizeText(text: string): string {
  return showControlChars(text.replace(bidiControls, "\ufffd"));
}

/** Like `sanitizeText`, but applies carriage returns as a terminal would, e.g. for progress bars. */
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

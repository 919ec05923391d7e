import type { FileEdit } from "@thinkery/sdk";

const maxSmallEdits = 20;
const maxSmallChars = 20_000;

/** Whether edits may take a while: there are many, they are long, or one may stand for a whole folder. */
export function isLarge(edits: readonly FileEdit[]): boolean {
  if (edits.length > maxSmallEdits) return true;
  let chars = 0;
  for (const edit of edits) {
    if (!("write" in edit)) return true;
    if (typeof edit.content === "string") chars += edit.content.length;
  }
  return chars > maxSmallChars;
}

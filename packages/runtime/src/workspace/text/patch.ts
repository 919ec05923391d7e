import { fail } from "@thinkery/sdk";
import { commonHead, commonTail, countLineEnds, linesOf } from "./lines.ts";
import { blocksBetween } from "./sequence.ts";

/**
 * What makes one text another, and back. Offsets are in UTF-16 units of the text before, ascending; the pieces do not
 * overlap.
 */
export type Patch = readonly (readonly [offset: number, removed: string, inserted: string])[];

type Piece = Patch[number];

// Beyond these a patch of few large pieces is smaller than one of many small ones, and found and applied faster.
const mostLines = 50_000;
const mostBlocks = 2_000;
const mostPaired = 100;

/** Small edits stay small: by lines first, and in the lines that differ only what differs. */
export function patchBetween(before: string, after: string): Patch {
  if (before === after) return [];
  const head = commonHead(before, after);
  const tail = commonTail(before, after, head);
  const removed = before.slice(head, before.length - tail);
  const inserted = after.slice(head, after.length - tail);
  if (removed === "" || inserted === "" || countLineEnds(removed) > mostLines || countLineEnds(inserted) > mostLines) return [[head, removed, inserted]];
  const lines = linesOf(removed);
  const newLines = linesOf(inserted);
  const blocks = blocksBetween(lines, newLines);
  if (blocks.length > mostBlocks) return [[head, removed, inserted]];
  const pieces: Piece[] = [];
  let offset = head;
  let line = 0;
  const skip = (to: number) => {
    for (; line < to; line += 1) offset += (lines[line] as string).length;
  };
  for (const { from, to, newFrom, newTo } of blocks) {
    skip(from);
    if (to - from === newTo - newFrom && to - from <= mostPaired) {
      // As many lines as before: most likely each of them was edited.
      for (let next = newFrom; next < newTo; next += 1) {
        addTrimmed(pieces, offset, lines[line] as string, newLines[next] as string);
        skip(line + 1);
      }
    } else {
      addTrimmed(pieces, offset, lines.slice(from, to).join(""), newLines.slice(newFrom, newTo).join(""));
      skip(to);
    }
  }
  return pieces;
}

/** The text after, from the text before. */
export function applied(text: string, patch: Patch): string {
  const parts: string[] = [];
  let done = 0;
  for (const [offset, removed, inserted] of patch) {
    if (offset < done || !text.startsWith(removed, offset) || offset > text.length) throw unfit();
    parts.push(text.slice(done, offset), inserted);
    done = offset + removed.length;
  }
  parts.push(text.slice(done));
  return parts.join("");
}

/** The text before, from the text after. */
export function unapplied(text: string, patch: Patch): string {
  return applied(text, reversed(patch));
}

/** The patch that leads back. */
export function reversed(patch: Patch): Patch {
  let shift = 0;
  return patch.map(([offset, removed, inserted]) => {
    const piece: Piece = [offset + shift, inserted, removed];
    shift += inserted.length - removed.length;
    return piece;
  });
}

function addTrimmed(pieces: Piece[], offset: number, before: string, after: string): void {
  if (before === after) return;
  const head = commonHead(before, after);
  const tail = commonTail(before, after, head);
  pieces.push([offset + head, before.slice(head, before.length - tail), after.slice(head, after.length - tail)]);
}

function unfit(): Error {
  return fail("internal", "A change does not fit the text that it was made on; what is stored of this file is damaged.");
}

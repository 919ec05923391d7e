import { fail, type TextPatch } from "@thinkery/sdk";
import { countCommonHead, countCommonTail, countLineEnds, splitLines } from "./lines.ts";
import { type Block, diffSequences } from "./sequence.ts";

type Piece = TextPatch[number];

// Beyond these limits, a few large pieces are smaller and faster to compute and apply than many small ones.
const maxLines = 50_000;
const maxBlocks = 2_000;
const maxPairedLines = 100;

/** Creates a patch by lines first, then trims each changed line to the part that differs. */
export function createPatch(before: string, after: string): TextPatch {
  if (before === after) return [];
  // Whole lines, so that an inserted line is one piece that starts and ends with it.
  const common = countCommonHead(before, after);
  const head = common === 0 ? 0 : before.lastIndexOf("\n", common - 1) + 1;
  const tail = trimToWholeLines(before, after, countCommonTail(before, after, head));
  const removed = before.slice(head, before.length - tail);
  const inserted = after.slice(head, after.length - tail);
  if (removed === "" || inserted === "" || countLineEnds(removed) > maxLines || countLineEnds(inserted) > maxLines)
    return [[head, removed, inserted]];
  const lines = splitLines(removed);
  const newLines = splitLines(inserted);
  const blocks = diffSequences(lines, newLines);
  if (blocks.length > maxBlocks) return [[head, removed, inserted]];
  const pieces: Piece[] = [];
  let offset = head;
  let line = 0;
  const skip = (to: number) => {
    for (; line < to; line += 1) offset += (lines[line] as string).length;
  };
  for (const { from, to, newFrom, newTo } of blocks) {
    skip(from);
    if (to - from === newTo - newFrom && to - from <= maxPairedLines) {
      // Same number of lines: most likely each of them was edited.
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

/** Shortens a common suffix to whole lines in both texts. */
function trimToWholeLines(before: string, after: string, tail: number): number {
  const start = before.length - tail;
  if (startsLine(before, start) && startsLine(after, after.length - tail)) return tail;
  const end = before.indexOf("\n", start);
  return end < 0 ? 0 : before.length - end - 1;
}

const startsLine = (text: string, at: number) => at === 0 || text[at - 1] === "\n";

/** Returns the line ranges that a patch of this text replaces, ordered and disjoint. */
export function listChangedBlocks(before: string, patch: TextPatch): Block[] {
  const blocks: Block[] = [];
  let [offset, line, shift] = [0, 0, 0];
  for (const [start, removed, inserted] of patch) {
    line += countLineEnds(before.slice(offset, start));
    const isWhole =
      startsLine(before, start) && [removed, inserted].every((text) => text === "" || text.endsWith("\n"));
    const [lost, added] = [countLineEnds(removed), countLineEnds(inserted)];
    // A line the piece only touches counts as replaced too, unless the text ends there.
    const isTouched =
      !isWhole && (start + removed.length < before.length || removed !== "" || before[start - 1] !== "\n");
    const block: Block = {
      from: line,
      to: line + lost + Number(isTouched),
      newFrom: line + shift,
      newTo: line + shift + added + Number(!isWhole),
    };
    const last = blocks.at(-1);
    if (last && block.from < last.to)
      Object.assign(last, { to: Math.max(last.to, block.to), newTo: Math.max(last.newTo, block.newTo) });
    else blocks.push(block);
    offset = start + removed.length;
    line += lost;
    shift += added - lost;
  }
  return blocks;
}

/** Returns the text after a patch from the text before it. */
export function applyPatch(text: string, patch: TextPatch): string {
  const parts: string[] = [];
  let done = 0;
  for (const [offset, removed, inserted] of patch) {
    if (offset < done || !text.startsWith(removed, offset) || offset > text.length) throw createPatchError();
    parts.push(text.slice(done, offset), inserted);
    done = offset + removed.length;
  }
  parts.push(text.slice(done));
  return parts.join("");
}

/** Returns the text before a patch from the text after it. */
export function revertPatch(text: string, patch: TextPatch): string {
  return applyPatch(text, reversePatch(patch));
}

/** Returns the inverse patch. */
export function reversePatch(patch: TextPatch): TextPatch {
  let shift = 0;
  return patch.map(([offset, removed, inserted]) => {
    const piece: Piece = [offset + shift, inserted, removed];
    shift += inserted.length - removed.length;
    return piece;
  });
}

function addTrimmed(pieces: Piece[], offset: number, before: string, after: string): void {
  if (before === after) return;
  const head = countCommonHead(before, after);
  const tail = countCommonTail(before, after, head);
  pieces.push([offset + head, before.slice(head, before.length - tail), after.slice(head, after.length - tail)]);
}

function createPatchError(): Error {
  return fail("internal", "A patch does not apply to its text. The stored history of this file is damaged.");
}

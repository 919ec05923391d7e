import type { KeyboardEvent } from "react";
import { getParentFolder, type Row } from "./rows.ts";

interface TreeActions {
  focus(path: string): void;
  fold(path: string, open: boolean): void;
}

/** Arrow keys move between rows and into or out of folders; a letter moves to the next name that begins with it. */
export function moveAmongRows(
  event: KeyboardEvent<HTMLElement>,
  rows: readonly Row[],
  current: string | undefined,
  { focus, fold }: TreeActions,
): void {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const index = Math.max(
    0,
    rows.findIndex(({ path }) => path === current),
  );
  const row = rows[index];
  if (!row) return;
  const focusRow = (next: Row | undefined) => next && focus(next.path);
  const moves: Record<string, () => void> = {
    ArrowDown: () => focusRow(rows[index + 1]),
    ArrowUp: () => focusRow(rows[index - 1]),
    Home: () => focusRow(rows[0]),
    End: () => focusRow(rows.at(-1)),
    ArrowRight: () => {
      if (row.open === false) fold(row.path, true);
      else if (row.open) focusRow(rows[index + 1]);
    },
    ArrowLeft: () => {
      if (row.open) fold(row.path, false);
      else focusRow(rows.find(({ path }) => path === getParentFolder(row.path)));
    },
    " ": () => row.open !== undefined && fold(row.path, !row.open),
  };
  const move =
    moves[event.key] ??
    (/^[\p{L}\p{N}._]$/u.test(event.key) ? () => focusRow(findByLetter(rows, index, event.key)) : undefined);
  if (!move) return;
  event.preventDefault();
  move();
}

function findByLetter(rows: readonly Row[], index: number, letter: string): Row | undefined {
  const candidates = [...rows.slice(index + 1), ...rows.slice(0, index)];
  return candidates.find(({ name }) => name.toLowerCase().startsWith(letter.toLowerCase()));
}

import type { KeyboardEvent } from "react";
import { folderOf, type Row } from "./rows.ts";

interface TreeDeeds {
  focus(path: string): void;
  fold(path: string, open: boolean): void;
}

/** Arrow keys as in every tree: along the lines, right into a folder, left out of it. Letters lead to names that begin so. */
export function moveAmongRows(event: KeyboardEvent<HTMLElement>, rows: readonly Row[], at: string | undefined, { focus, fold }: TreeDeeds): void {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const index = Math.max(0, rows.findIndex(({ path }) => path === at));
  const row = rows[index];
  if (!row) return;
  const to = (next: Row | undefined) => next && focus(next.path);
  const moves: Record<string, () => void> = {
    ArrowDown: () => to(rows[index + 1]),
    ArrowUp: () => to(rows[index - 1]),
    Home: () => to(rows[0]),
    End: () => to(rows.at(-1)),
    ArrowRight: () => {
      if (row.open === false) fold(row.path, true);
      else if (row.open) to(rows[index + 1]);
    },
    ArrowLeft: () => {
      if (row.open) fold(row.path, false);
      else to(rows.find(({ path }) => path === folderOf(row.path)));
    },
    " ": () => row.open !== undefined && fold(row.path, !row.open),
  };
  const move = moves[event.key] ?? (/^[\p{L}\p{N}._]$/u.test(event.key) ? () => to(named(rows, index, event.key)) : undefined);
  if (!move) return;
  event.preventDefault();
  move();
}

function named(rows: readonly Row[], index: number, letter: string): Row | undefined {
  const behind = [...rows.slice(index + 1), ...rows.slice(0, index)];
  return behind.find(({ name }) => name.toLowerCase().startsWith(letter.toLowerCase()));
}

import type { KeyboardEvent } from "react";
import { setOpen } from "./open-agencies.ts";

/** Arrow keys in the tree: up and down move between rows, right expands an agency, left collapses it or moves to it. */
export function moveInTree(event: KeyboardEvent<HTMLElement>): void {
  const link = (event.target as HTMLElement)
    .closest<HTMLElement>(".tree-row")
    ?.querySelector<HTMLElement>(".tree-link");
  if (!link || event.altKey || event.ctrlKey || event.metaKey) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>(".tree-link")];
  const index = rows.indexOf(link);
  const { branch, leafOf } = link.dataset;
  const moves: Record<string, () => void> = {
    ArrowDown: () => rows[index + 1]?.focus(),
    ArrowUp: () => rows[index - 1]?.focus(),
    Home: () => rows[0]?.focus(),
    End: () => rows.at(-1)?.focus(),
    ArrowRight: () => branch && setOpen(branch, true),
    ArrowLeft: () => {
      if (branch) setOpen(branch, false);
      else rows.find((row) => row.dataset.branch === leafOf)?.focus();
    },
  };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  move();
}

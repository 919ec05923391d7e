import type { Think } from "@thinkery/sdk/react";
import { type RefObject, useEffect, useRef } from "react";
import { announce } from "../frame/announce.tsx";

/** How far back a turn is looked for. */
const maxPages = 40;

/** Scrolls to the first message of a turn, once. Loads older messages until it is there. */
export function useTurn(
  { messages, older, ready, loadOlder }: Pick<Think, "messages" | "older" | "ready" | "loadOlder">,
  turn: string | undefined,
  scroller: RefObject<HTMLElement | null>,
): void {
  const search = useRef<{ turn: string | undefined; pages: number; isOver: boolean }>(undefined);
  useEffect(() => {
    const known = search.current;
    const state = known && known.turn === turn ? known : { turn, pages: 0, isOver: turn === undefined };
    search.current = state;
    if (!ready || state.isOver) return;
    const entry = messages.find(({ runId }) => runId === turn);
    if (entry) {
      state.isOver = true;
      const element = scroller.current?.querySelector<HTMLElement>(`[data-message="${CSS.escape(entry.id)}"]`);
      element?.setAttribute("tabindex", "-1");
      element?.scrollIntoView({ block: "start" });
      element?.focus({ preventScroll: true });
    } else if (older && state.pages < maxPages) {
      state.pages++;
      void loadOlder();
    } else {
      state.isOver = true;
      announce("The messages of this turn were not found.");
    }
  }, [messages, older, ready, loadOlder, turn, scroller]);
}

import type { Entries } from "@thinkery/sdk/react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** Maximum distance from the end at which scrolling follows new entries. */
const followThresholdPx = 60;

/**
 * Keeps the end of a growing list in view if the user is there. Otherwise keeps the scroll position, also when older
 * entries are added above it, or when the user opens a card: what was opened should stay in view.
 */
export function useStickToEnd(entries: Entries) {
  const scroller = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const previous = useRef({ first: "", height: 0, unsent: "" });
  const [isAtEnd, setIsAtEnd] = useState(true);

  const onScroll = useCallback(() => {
    if (!scroller.current) return;
    following.current = isNearEnd(scroller.current);
    setIsAtEnd(following.current);
  }, []);

  const onClick = useCallback(({ target }: { target: EventTarget }) => {
    if (target instanceof Element && target.closest("summary")) following.current = false;
  }, []);

  const scrollToEnd = useCallback(() => {
    following.current = true;
    setIsAtEnd(true);
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, []);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const { first, height, unsent: previousUnsent } = previous.current;
    const last = entries.at(-1);
    const unsent = last?.stage === "unsent" ? last.id : previousUnsent;
    if (unsent !== previousUnsent) following.current = true;
    if (following.current) element.scrollTop = element.scrollHeight;
    else if (first && entries[0]?.id !== first && entries.some(({ id }) => id === first))
      element.scrollTop += element.scrollHeight - height;
    previous.current = { first: entries[0]?.id ?? "", height: element.scrollHeight, unsent };
  }, [entries]);

  // Resizing the window or opening a card moves the end, too.
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      const { height } = previous.current;
      previous.current.height = element.scrollHeight;
      if (following.current) element.scrollTop = element.scrollHeight;
      else if (element.scrollHeight < height) onScroll();
      // A card that was opened may still be loading its content: following begins when the user scrolls to the end.
      else setIsAtEnd(isNearEnd(element));
    });
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, [onScroll]);

  return { scroller, isAtEnd, onScroll, onClick, scrollToEnd };
}

const isNearEnd = ({ scrollHeight, scrollTop, clientHeight }: Element) =>
  scrollHeight - scrollTop - clientHeight < followThresholdPx;

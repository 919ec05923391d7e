import type { Entries } from "@thinkery/sdk/react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** This near to the end, a reader means to follow it. */
const followThresholdPx = 60;

/**
 * Keeps the end of a growing list in sight for those who are there, and what is being read in its place for those
 * who are not, also when older entries come in above it.
 */
export function useStickToEnd(entries: Entries) {
  const scroller = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const before = useRef({ first: "", height: 0, own: "" });
  const [inSight, setInSight] = useState(true);

  const onScroll = useCallback(() => {
    const at = scroller.current;
    if (!at) return;
    following.current = at.scrollHeight - at.scrollTop - at.clientHeight < followThresholdPx;
    setInSight(following.current);
  }, []);

  const scrollToEnd = useCallback(() => {
    following.current = true;
    setInSight(true);
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, []);

  useLayoutEffect(() => {
    const at = scroller.current;
    if (!at) return;
    const { first, height, own } = before.current;
    const last = entries.at(-1);
    const said = last?.stage === "unsent" ? last.id : own;
    if (said !== own) following.current = true;
    if (following.current) at.scrollTop = at.scrollHeight;
    else if (first && entries[0]?.id !== first && entries.some(({ id }) => id === first))
      at.scrollTop += at.scrollHeight - height;
    before.current = { first: entries[0]?.id ?? "", height: at.scrollHeight, own: said };
  }, [entries]);

  // A window made smaller or a card opened moves the end as well.
  useEffect(() => {
    const at = scroller.current;
    if (!at) return;
    const observer = new ResizeObserver(() => {
      before.current.height = at.scrollHeight;
      if (following.current) at.scrollTop = at.scrollHeight;
      else onScroll();
    });
    observer.observe(at);
    if (at.firstElementChild) observer.observe(at.firstElementChild);
    return () => observer.disconnect();
  }, [onScroll]);

  return { scroller, inSight, onScroll, toEnd: scrollToEnd };
}

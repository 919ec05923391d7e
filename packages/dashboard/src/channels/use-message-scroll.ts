import type { ChannelMessage } from "@thinkery/sdk";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { MessageLog } from "../api/team/message-log.ts";

/** Maximum distance from the end at which new messages are followed. */
const followThresholdPx = 60;

/** Distance from an end at which the next page is loaded. */
const loadThresholdPx = 600;

interface ScrollOptions {
  log: MessageLog;
  messages: readonly ChannelMessage[];
  /** The row to show first: the id of a message, or `unread`. The end without it. */
  target: string | undefined;
  pendingCount: number;
}

/** A row and where it is on the screen. */
interface Anchor {
  id: string;
  top: number;
}

/**
 * Scrolls a list of which pages are added and removed at both ends: follows the end if the reader is there, and
 * otherwise keeps what the reader looks at where it is.
 */
export function useMessageScroll({ log, messages, target, pendingCount }: ScrollOptions) {
  const scroller = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const anchor = useRef<Anchor>(undefined);
  const shownTarget = useRef<string>(undefined);
  const [isAtEnd, setAtEnd] = useState(true);

  const update = useCallback(() => {
    const element = scroller.current;
    if (!element) return;
    following.current = element.scrollHeight - element.scrollTop - element.clientHeight < followThresholdPx;
    anchor.current = findAnchor(element);
    setAtEnd(following.current);
  }, []);

  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (!element) return;
    update();
    const { hasOlder, hasNewer, loading } = log.get();
    if (loading !== undefined) return;
    if (hasOlder && element.scrollTop < loadThresholdPx) void log.loadOlder();
    else if (hasNewer && element.scrollHeight - element.scrollTop - element.clientHeight < loadThresholdPx)
      void log.loadNewer();
  }, [log, update]);

  const scrollToEnd = useCallback(() => {
    following.current = true;
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
    setAtEnd(true);
  }, []);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || messages.length === 0) return;
    const row = target !== undefined && shownTarget.current !== target && findRow(element, target);
    if (row) {
      shownTarget.current = target;
      element.scrollTop += getTop(element, row) - element.clientHeight / 3;
      update();
    } else if (following.current && !log.get().hasNewer) {
      element.scrollTop = element.scrollHeight;
    } else keepAnchor(element, anchor.current);
    anchor.current = findAnchor(element);
    // The first page may be shorter than the frame.
    if (log.get().hasOlder && element.scrollHeight <= element.clientHeight + loadThresholdPx) void log.loadOlder();
  }, [log, messages, target, update]);

  // What the reader sends is shown, wherever the reader is.
  useLayoutEffect(() => {
    if (pendingCount > 0) scrollToEnd();
  }, [pendingCount, scrollToEnd]);

  // Resizing the window or the composer moves the end, too.
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      if (following.current && !log.get().hasNewer) element.scrollTop = element.scrollHeight;
      else keepAnchor(element, anchor.current);
    });
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, [log]);

  return { scroller, isAtEnd, onScroll, scrollToEnd };
}

const findRow = (element: HTMLElement, id: string) =>
  element.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`);

const getTop = (element: HTMLElement, row: HTMLElement) =>
  row.getBoundingClientRect().top - element.getBoundingClientRect().top;

/** The first row that is on the screen. */
function findAnchor(element: HTMLElement): Anchor | undefined {
  const rows = element.querySelectorAll<HTMLElement>("[data-row]");
  // Halving, because there are hundreds of rows, and this runs whenever the reader scrolls.
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle];
    if (row && getTop(element, row) + row.offsetHeight > 0) high = middle;
    else low = middle + 1;
  }
  const row = rows[low];
  return row?.dataset.row === undefined ? undefined : { id: row.dataset.row, top: getTop(element, row) };
}

function keepAnchor(element: HTMLElement, anchor: Anchor | undefined): void {
  const row = anchor && findRow(element, anchor.id);
  if (row) element.scrollTop += getTop(element, row) - anchor.top;
}

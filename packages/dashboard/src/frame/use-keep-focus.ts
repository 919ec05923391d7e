import { useEffect, useRef } from "react";

/** Moves the focus to the new content if navigation to another place removed or hid what had it. */
export function useKeepFocus(place: string, findNext: () => HTMLElement | null | undefined): void {
  const last = useRef(place);
  useEffect(() => {
    if (last.current === place) return;
    last.current = place;
    const focused = document.activeElement;
    if (focused && focused !== document.body && focused.checkVisibility()) return;
    findNext()?.focus({ preventScroll: true });
  });
}

import { useEffect, useRef, useState } from "react";

const narrowQuery = "(max-width: 52rem)";

/** The sidebar as a drawer on narrow screens: opens over the page, closes on Escape and on navigation. */
export function useDrawer(path: string) {
  const [open, setOpen] = useState(false);
  const drawer = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);

  useEffect(() => setOpen(false), [path]);

  useEffect(() => {
    if (!open) return;
    drawer.current?.querySelector<HTMLElement>("a, button")?.focus();
    const previousFocus = opener.current;
    const onKey = (event: KeyboardEvent) => {
      // A dialog over the drawer handles Escape itself.
      if (event.key === "Escape" && !document.querySelector("dialog[open]")) setOpen(false);
    };
    const media = window.matchMedia(narrowQuery);
    const onWiden = () => setOpen(false);
    window.addEventListener("keydown", onKey);
    media.addEventListener("change", onWiden);
    return () => {
      window.removeEventListener("keydown", onKey);
      media.removeEventListener("change", onWiden);
      previousFocus?.focus();
    };
  }, [open]);

  return { open, setOpen, drawer, opener };
}

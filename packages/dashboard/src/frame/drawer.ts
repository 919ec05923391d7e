import { useEffect, useRef, useState } from "react";

const narrowQuery = "(max-width: 52rem)";

/** The tree as a drawer on narrow screens: opens over the page, closes with Escape and when something was chosen. */
export function useDrawer(path: string) {
  const [open, setOpen] = useState(false);
  const drawer = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);

  useEffect(() => setOpen(false), [path]);

  useEffect(() => {
    if (!open) return;
    drawer.current?.querySelector<HTMLElement>("a, button")?.focus();
    const back = opener.current;
    const onKey = (event: KeyboardEvent) => {
      // A dialog that lies over the drawer takes Escape for itself.
      if (event.key === "Escape" && !document.querySelector("dialog[open]")) setOpen(false);
    };
    const media = window.matchMedia(narrowQuery);
    const onWiden = () => setOpen(false);
    window.addEventListener("keydown", onKey);
    media.addEventListener("change", onWiden);
    return () => {
      window.removeEventListener("keydown", onKey);
      media.removeEventListener("change", onWiden);
      back?.focus();
    };
  }, [open]);

  return { open, setOpen, drawer, opener };
}

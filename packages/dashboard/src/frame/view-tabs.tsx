import { createElement, useEffect, useRef } from "react";
import { isAvailable, type View, type ViewProps, type ViewScope } from "../views/define-view.tsx";
import { Link } from "./link.tsx";

interface ViewTabsProps<S extends ViewScope> {
  /** Name of the agency or agent. */
  of: string;
  views: readonly View<S>[];
  current: View<S>;
  /** Path of the scope. */
  base: string;
  props: ViewProps[S];
}

/** Tabs for the views of an agency or agent. */
export function ViewTabs<S extends ViewScope>({ of, views, current, base, props }: ViewTabsProps<S>) {
  const nav = useRef<HTMLElement>(null);
  const shown = views.filter((view) => isAvailable(view, props));
  // There may be more tabs than fit on a narrow screen, and a badge that appears moves those after it.
  useEffect(() => {
    const element = nav.current;
    if (!element) return;
    const reveal = () => revealCurrent(element);
    const observer = new ResizeObserver(reveal);
    for (const tab of element.children) observer.observe(tab);
    reveal();
    return () => observer.disconnect();
  }, [current, shown.length]);

  return (
    <nav ref={nav} className="tabs" aria-label={`Views of ${of}`}>
      {shown.map((view) => (
        <Link key={view.name} href={base + view.path} aria-current={view === current ? "page" : undefined}>
          {view.label}
          <ViewBadge view={view} current={view === current} props={props} />
        </Link>
      ))}
    </nav>
  );
}

/** Scrolls the tabs, but not the page. */
function revealCurrent(nav: HTMLElement): void {
  const tab = nav.querySelector("[aria-current]")?.getBoundingClientRect();
  const frame = nav.getBoundingClientRect();
  if (!tab) return;
  if (tab.left < frame.left) nav.scrollLeft += tab.left - frame.left;
  else if (tab.right > frame.right) nav.scrollLeft += tab.right - frame.right;
}

interface ViewBadgeProps<S extends ViewScope> {
  view: View<S>;
  current: boolean;
  props: ViewProps[S];
}

export function ViewBadge<S extends ViewScope>({ view: { Badge }, current, props }: ViewBadgeProps<S>) {
  return Badge ? createElement(Badge, { ...props, current }) : null;
}

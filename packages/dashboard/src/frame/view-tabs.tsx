import { createElement, useEffect, useRef } from "react";
import type { View, ViewProps, ViewScope } from "../views/define-view.tsx";
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
  // There may be more tabs than fit on a narrow screen.
  useEffect(() => {
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [current]);

  return (
    <nav ref={nav} className="tabs" aria-label={`Views of ${of}`}>
      {views.map((view) => (
        <Link key={view.name} href={base + view.path} aria-current={view === current ? "page" : undefined}>
          {view.label}
          <ViewBadge view={view} current={view === current} props={props} />
        </Link>
      ))}
    </nav>
  );
}

interface ViewBadgeProps<S extends ViewScope> {
  view: View<S>;
  current: boolean;
  props: ViewProps[S];
}

export function ViewBadge<S extends ViewScope>({ view: { Badge }, current, props }: ViewBadgeProps<S>) {
  return Badge ? createElement(Badge, { ...props, current }) : null;
}

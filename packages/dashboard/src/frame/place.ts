import { useSyncExternalStore } from "react";

export const homePath = "/app";

export const usageSegment = "~usage";

export function pathTo(agency: string, agent?: string): string {
  const parts = agent === undefined ? [agency] : [agency, agent];
  // A colon is plain in a path and reads better: /app/review:pr-123
  return [homePath, ...parts.map((part) => encodeURIComponent(part).replaceAll("%3A", ":"))].join("/");
}

/** What was used in an agency, or in all of them. */
export function usagePath(agency?: string): string {
  return `${agency === undefined ? homePath : pathTo(agency)}/${usageSegment}`;
}

const moved = "thinkery:moved";

export function go(path: string, how: "push" | "replace" = "push"): void {
  if (path !== here()) {
    window.history[how === "push" ? "pushState" : "replaceState"](null, "", path);
    window.scrollTo(0, 0);
  }
  window.dispatchEvent(new Event(moved));
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, here);
}

function here(): string {
  return window.location.pathname + window.location.search;
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("popstate", listener);
  window.addEventListener(moved, listener);
  return () => {
    window.removeEventListener("popstate", listener);
    window.removeEventListener(moved, listener);
  };
}

import { useSyncExternalStore } from "react";
import { type FilesPlace, filesPlaceAt } from "./files-place.ts";

/** Where in the house the address bar points. */
export type Place =
  | { view: "home" }
  | { view: "usage"; agency?: string }
  | { view: "agency"; agency: string }
  | { view: "agent"; agency: string; agent: string; /** In its files, not its conversation. */ files?: FilesPlace }
  | { view: "lost" };

/** The place at an address: a path, and what is asked for behind it. */
export function placeAt(address: string): Place {
  const [path = "", query = ""] = address.split("?", 2);
  let parts: string[];
  try {
    parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return { view: "lost" };
  }
  const [root, agency, agent, ...rest] = parts;
  if (root === undefined) return { view: "home" };
  if (root !== "app") return { view: "lost" };
  if (rest.length > 0) {
    const files = filesPlaceAt(rest, query);
    return files && agency && agent && agency !== usage && agent !== usage ? { view: "agent", agency, agent, files } : { view: "lost" };
  }
  if (agency === undefined) return { view: "home" };
  if (agency === usage) return agent === undefined ? { view: "usage" } : { view: "lost" };
  if (agent === usage) return { view: "usage", agency };
  return agent === undefined ? { view: "agency", agency } : { view: "agent", agency, agent };
}

export const homePath = "/app";

/** No agency and no agent can have this name. */
const usage = "~usage";

export function pathTo(agency: string, agent?: string): string {
  const parts = agent === undefined ? [agency] : [agency, agent];
  // A colon is plain in a path and reads better: /app/review:pr-123
  return [homePath, ...parts.map((part) => encodeURIComponent(part).replaceAll("%3A", ":"))].join("/");
}

/** What was used in an agency, or in all of them. */
export function usagePath(agency?: string): string {
  return `${agency === undefined ? homePath : pathTo(agency)}/${usage}`;
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

import { useSyncExternalStore } from "react";

export const homePath = "/app";

export const usageSegment = "~usage";

export const inboxSegment = "~inbox";

export const packagesSegment = "~packages";

export const boardSegment = "~board";

export const channelsSegment = "~channels";

/** Precedes the name of a sub-agent in a path: /app/global/alice/~sub/subagent-x */
export const subSegment = "~sub";

/** `agent` may be the path of a sub-agent, such as `alice/subagent-x`. */
export function buildPath(agency: string, agent?: string): string {
  const [root, ...children] = agent?.split("/") ?? [];
  const parts = [agency, ...(root === undefined ? [] : [root]), ...children.flatMap((name) => [subSegment, name])];
  // A colon needs no encoding in a path and reads better: /app/review:pr-123
  return [homePath, ...parts.map((part) => encodeURIComponent(part).replaceAll("%3A", ":"))].join("/");
}

/** Path of the usage view of an agency, or of all agencies. */
export function buildUsagePath(agency?: string): string {
  return `${agency === undefined ? homePath : buildPath(agency)}/${usageSegment}`;
}

/** Path of a package of an agency, or of the list of its packages. */
export function buildPackagePath(agency: string, name?: string): string {
  return `${buildPath(agency)}/${packagesSegment}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`;
}

/** A place in the channels of an agency. */
export interface ChannelsPlace {
  channel?: string;
  /** The message to show first. */
  message?: string;
  /** The message whose replies are shown beside the channel. */
  thread?: string;
}

/** Path of a channel of an agency, or of the list of its channels. */
export function buildChannelPath(agency: string, place: ChannelsPlace = {}): string {
  return buildPath(agency) + buildChannelsAddress(place);
}

/** The part of it below the agency's own. */
export function buildChannelsAddress({ channel, message, thread }: ChannelsPlace): string {
  const names = [channel, ...(channel === undefined ? [] : [message])].filter((name) => name !== undefined);
  const query = thread === undefined ? "" : `?thread=${encodeURIComponent(thread)}`;
  return (
    ["", channelsSegment, ...names.map((name) => encodeURIComponent(name).replaceAll("%40", "@"))].join("/") + query
  );
}

/** Path of an agent's conversation at the messages of a turn. */
export function buildTurnPath(agency: string, agent: string, turn: string): string {
  return `${buildPath(agency, agent)}?turn=${encodeURIComponent(turn)}`;
}

export const inboxPath = `${homePath}/${inboxSegment}`;

const navigationEvent = "thinkery:navigate";

export function navigate(path: string, mode: "push" | "replace" = "push"): void {
  if (path !== getCurrentPath()) {
    window.history[mode === "push" ? "pushState" : "replaceState"](null, "", path);
    window.scrollTo(0, 0);
  }
  window.dispatchEvent(new Event(navigationEvent));
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, getCurrentPath);
}

function getCurrentPath(): string {
  return window.location.pathname + window.location.search;
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("popstate", listener);
  window.addEventListener(navigationEvent, listener);
  return () => {
    window.removeEventListener("popstate", listener);
    window.removeEventListener(navigationEvent, listener);
  };
}

import { createContext, useContext } from "react";
import { subSegment } from "../frame/navigation.ts";
import type { AnyView, View, ViewMatch, ViewScope } from "./define-view.tsx";

/** The view at an address, with its agency and agent. */
export type Place =
  | { scope: "host"; match: ViewMatch<"host"> }
  | { scope: "agency"; agency: string; match: ViewMatch<"agency"> }
  /** `agent` is the path of a sub-agent, if it is one. */
  | { scope: "agent"; agency: string; agent: string; match: ViewMatch<"agent"> }
  | { scope: "none" };

export interface ViewRegistry {
  /** The views of each scope, in display order. */
  views: { readonly [S in ViewScope]: readonly View<S>[] };
  /** Finds the view at a path with an optional query. */
  findPlace(address: string): Place;
}

/** Throws if two views claim the same address or a scope has no index view. */
export function createViewRegistry(all: readonly AnyView[]): ViewRegistry {
  const views = {
    host: all.filter((view) => view.scope === "host").sort(compareOrder),
    agency: all.filter((view) => view.scope === "agency").sort(compareOrder),
    agent: all.filter((view) => view.scope === "agent").sort(compareOrder),
  };
  for (const scope of ["host", "agency", "agent"] as const) checkViews(scope, views[scope]);

  return {
    views,
    findPlace(address) {
      const { names, query } = parseAddress(address);
      if (!names) return { scope: "none" };
      const [root, ...rest] = names;
      if (root !== undefined && root !== "app") return { scope: "none" };
      const [agency, agent] = rest;
      if (agency === undefined || isReserved(agency)) {
        const match = findMatch(views.host, rest, query);
        return match ? { scope: "host", match } : { scope: "none" };
      }
      if (agent === undefined || isReserved(agent)) {
        const match = findMatch(views.agency, rest.slice(1), query);
        return match ? { scope: "agency", agency, match } : { scope: "none" };
      }
      const { path, segments } = takeSubagents(agent, rest.slice(2));
      const match = findMatch(views.agent, segments, query);
      return match ? { scope: "agent", agency, agent: path, match } : { scope: "none" };
    },
  };
}

/** Returns no names if the path cannot be decoded. */
function parseAddress(address: string): { names?: string[]; query: URLSearchParams } {
  const [path = ""] = address.split("?", 1);
  const query = new URLSearchParams(address.slice(path.length));
  try {
    return { names: path.split("/").filter(Boolean).map(decodeURIComponent), query };
  } catch {
    return { query };
  }
}

/** Appends the names of sub-agents to the path of their agent; the other segments belong to a view. */
function takeSubagents(path: string, segments: string[]): { path: string; segments: string[] } {
  const [first, name, ...rest] = segments;
  if (first !== subSegment || name === undefined || isReserved(name)) return { path, segments };
  return takeSubagents(`${path}/${name}`, rest);
}

/** Names of agencies and agents cannot begin with “~”, so such segments are free for views. */
function isReserved(segment: string): boolean {
  return segment.startsWith("~");
}

function findMatch<S extends ViewScope>(
  views: readonly View<S>[],
  segments: string[],
  query: URLSearchParams,
): ViewMatch<S> | undefined {
  const [first] = segments;
  const view = views.find((one) => (first === undefined ? isIndex(one) : one.segments.includes(first)));
  return view?.match(segments, query);
}

export function isIndex({ segments }: Pick<AnyView, "segments">): boolean {
  return segments.length === 0;
}

function compareOrder(a: AnyView, b: AnyView): number {
  return a.order - b.order || a.name.localeCompare(b.name);
}

function checkViews(scope: ViewScope, views: readonly AnyView[]): void {
  const indexes = views.filter(isIndex).length;
  if (indexes !== 1) throw new Error(`The ${scope} scope has ${indexes} index views; expected 1.`);
  const segments = views.flatMap((view) => view.segments);
  for (const list of [segments, views.map(({ name }) => name)]) {
    const duplicate = list.find((one, index) => list.indexOf(one) !== index);
    if (duplicate !== undefined) throw new Error(`Two views of the ${scope} scope use the name “${duplicate}”.`);
  }
  const ambiguous = segments.find((segment) => scope !== "agent" && !isReserved(segment));
  if (ambiguous !== undefined)
    throw new Error(
      `“${ambiguous}” could be the name of an agency or agent; segments of the ${scope} scope must begin with “~”.`,
    );
}

const context = createContext<ViewRegistry | undefined>(undefined);

export const ViewRegistryProvider = context.Provider;

export function useViews(): ViewRegistry {
  const registry = useContext(context);
  if (!registry) throw new Error("useViews must be used within a ViewRegistryProvider.");
  return registry;
}

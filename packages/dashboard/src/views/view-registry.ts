import { createContext, useContext } from "react";
import type { AnyView, View, ViewMatch, ViewScope } from "./define-view.tsx";

/** Where the address bar points: a view, with the agency and agent it is about. */
export type Place =
  | { scope: "host"; match: ViewMatch<"host"> }
  | { scope: "agency"; agency: string; match: ViewMatch<"agency"> }
  | { scope: "agent"; agency: string; agent: string; match: ViewMatch<"agent"> }
  | { scope: "none" };

export interface ViewRegistry {
  /** The views of each scope, in the order in which they are listed. */
  views: { readonly [S in ViewScope]: readonly View<S>[] };
  /** Finds the view of an address, which is a path with an optional query. */
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
      const match = findMatch(views.agent, rest.slice(2), query);
      return match ? { scope: "agent", agency, agent, match } : { scope: "none" };
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

/** No agency and no agent can have a name like this, so it is free for views. */
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
  if (indexes !== 1) throw new Error(`The ${scope} scope has ${indexes} index views; it needs one.`);
  const segments = views.flatMap((view) => view.segments);
  for (const list of [segments, views.map(({ name }) => name)]) {
    const duplicate = list.find((one, index) => list.indexOf(one) !== index);
    if (duplicate !== undefined) throw new Error(`Two views of the ${scope} scope are called “${duplicate}”.`);
  }
  const wrong = segments.find((segment) => scope !== "agent" && !isReserved(segment));
  if (wrong !== undefined) throw new Error(`“${wrong}” could be a name: views of the ${scope} scope begin with “~”.`);
}

const context = createContext<ViewRegistry | undefined>(undefined);

export const ViewRegistryProvider = context.Provider;

export function useViews(): ViewRegistry {
  const registry = useContext(context);
  if (!registry) throw new Error("There is no view registry here.");
  return registry;
}

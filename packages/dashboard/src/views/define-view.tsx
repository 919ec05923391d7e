import type { Agency, Agent, ListedBlueprint } from "@thinkery/sdk";
import type { Think } from "@thinkery/sdk/react";
import type { Attributes, FunctionComponent, ReactNode } from "react";
import type { IconName } from "../parts/icon.tsx";
import type { ViewAddress } from "./view-address.ts";

/** What a view belongs to. Its path extends that of its scope: /app, /app/:agency or /app/:agency/:agent. */
export type ViewScope = "host" | "agency" | "agent";

export interface HostViewProps extends Attributes {
  user: string;
}

export interface AgencyViewProps extends HostViewProps {
  agency: Agency;
}

export interface AgentViewProps extends AgencyViewProps {
  agent: Agent;
  blueprint: ListedBlueprint | undefined;
  /** The model of the next turn, if known. */
  model: string | undefined;
  /** The live connection to the agent, shared by all its views. */
  think: Think;
  running: boolean;
}

/** Props of the views of each scope. */
export interface ViewProps {
  host: HostViewProps;
  agency: AgencyViewProps;
  agent: AgentViewProps;
}

export interface ViewDefinition<S extends ViewScope, Params> {
  scope: S;
  /** Unique in its scope. Also a hook for stylesheets: `[data-view="files"]`. */
  name: string;
  /** Text of the tab or link to the view. */
  label: string;
  /** Shown next to the label in the sidebar; tabs have no icons. */
  icon?: IconName;
  /** Position among the views of its scope, lowest first. */
  order: number;
  address: ViewAddress<Params>;
  /** First part of the document title. Defaults to the label; the index view of a scope has none. */
  title?(params: Params): string;
  /** Whether the view exists for this agency or agent. Without it, the view always does. */
  isAvailable?(props: ViewProps[S]): boolean;
  /** Status next to the label, such as a count or a dot. */
  Badge?: FunctionComponent<ViewProps[S] & { current: boolean }>;
  /** Wrap large ones in `createLazyView`. */
  Component: FunctionComponent<ViewProps[S] & { params: Params }>;
}

/** A registered view; only the view itself knows the type of its params. */
export interface View<S extends ViewScope> extends Omit<ViewDefinition<S, never>, "address" | "title" | "Component"> {
  /** First path segments of the view; none for the index view of its scope. */
  segments: readonly string[];
  /** Path of the view, relative to its scope. */
  path: string;
  /** Returns undefined if the address does not belong to this view. */
  match(segments: string[], query: URLSearchParams): ViewMatch<S> | undefined;
}

export type AnyView = { [S in ViewScope]: View<S> }[ViewScope];

/** A view at a specific address. */
export interface ViewMatch<S extends ViewScope> {
  view: View<S>;
  params: unknown;
  /** Canonical path, relative to the scope. */
  path: string;
  title: string | undefined;
  render(props: ViewProps[S]): ReactNode;
}

export function isAvailable<S extends ViewScope>(view: View<S>, props: ViewProps[S]): boolean {
  return view.isAvailable?.(props) ?? true;
}

/**
 * Declares a view. Export the result as `view` from `views/<scope>/<name>.view.tsx`; it is found there automatically.
 */
export function defineView<S extends ViewScope, Params>(definition: ViewDefinition<S, Params>): View<S> {
  const { address, title, Component, ...rest } = definition;
  const defaultTitle = address.segments.length > 0 ? definition.label : undefined;
  const view: View<S> = {
    ...rest,
    segments: address.segments,
    path: address.build(address.initial),
    match(segments, query) {
      const params = address.parse(segments, query);
      if (params === undefined) return undefined;
      return {
        view,
        params,
        path: address.build(params),
        title: title ? title(params) : defaultTitle,
        render: (props) => <Component {...props} params={params} />,
      };
    },
  };
  return view;
}

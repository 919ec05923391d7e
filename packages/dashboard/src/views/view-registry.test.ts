import type { Agency, Agent } from "@thinkery/sdk";
import type { Think } from "@thinkery/sdk/react";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { type FilesPlace, buildFilesAddress } from "../frame/files-place.ts";
import { homePath, buildPath, buildUsagePath } from "../frame/navigation.ts";
import { ViewTabs } from "../frame/view-tabs.tsx";
import { type AgentViewProps, type AnyView, defineView } from "./define-view.tsx";
import { indexAddress, createSegmentAddress } from "./view-address.ts";
import { createViewRegistry, isIndex, type Place } from "./view-registry.ts";
import { allViews, viewRegistry } from "./views.ts";

const { findPlace } = viewRegistry;

/** The parts of a place that can be compared. */
function summarize(place: Place) {
  if (place.scope === "none") return "none";
  const { match, ...rest } = place;
  return { ...rest, view: match.view.name, params: match.params };
}

const summarizeAt = (address: string) => summarize(findPlace(address));

const conversation = { view: "conversation", params: {} };
const expectedAgent = (agency: string, agent: string) => ({ scope: "agent", agency, agent, ...conversation });

const bases = { host: homePath, agency: buildPath("review:pr-123"), agent: buildPath("review:pr-123", "alice") };

test("agencies and agents are found at the paths that lead to them", () => {
  expect(summarizeAt(buildPath("global"))).toEqual({ scope: "agency", agency: "global", view: "agents", params: {} });
  expect(summarizeAt(buildPath("review:pr-123", "alice"))).toEqual(expectedAgent("review:pr-123", "alice"));
  expect(buildPath("review:pr-123")).toBe("/app/review:pr-123");
});

test("usage has an address in each agency and one above them, whatever agencies and agents are called", () => {
  expect(buildUsagePath()).toBe("/app/~usage");
  expect(summarizeAt(buildUsagePath())).toEqual({ scope: "host", view: "usage", params: {} });
  expect(buildUsagePath("review:pr-123")).toBe("/app/review:pr-123/~usage");
  expect(summarizeAt(buildUsagePath("review:pr-123"))).toEqual({
    scope: "agency",
    agency: "review:pr-123",
    view: "usage",
    params: {},
  });
  expect(summarizeAt(buildPath("usage", "usage"))).toEqual(expectedAgent("usage", "usage"));
});

test("the root and /app are home, with or without a slash at the end", () => {
  for (const path of ["/", "/app", "/app/"])
    expect(summarizeAt(path)).toEqual({ scope: "host", view: "home", params: {} });
});

test("a path that leads nowhere has no view, even one that cannot be decoded", () => {
  const paths = [
    "/app/%E0%A4%A",
    "/app/a/b/c",
    "/app/~usage/a",
    "/app/~nothing",
    "/app/global/~nothing",
    "/app/global/alice/~usage",
    "/elsewhere",
    "/nowhere",
  ];
  for (const path of paths) expect(summarizeAt(path)).toBe("none");
});

test("a file, a folder, a version and a branch of an agent have addresses of their own", () => {
  const places: FilesPlace[] = [
    { show: "files" },
    { show: "files", path: "src/a b#?%.ts", line: 12 },
    { show: "files", path: "files/history", version: 3, branch: "draft.1" },
    { show: "history" },
    { show: "history", path: "src", version: 41 },
  ];
  for (const params of places) {
    const place = findPlace(bases.agent + buildFilesAddress(params));
    expect(summarize(place)).toEqual({ ...expectedAgent("review:pr-123", "alice"), view: "files", params });
    expect(place.scope === "agent" && place.match.path).toBe(buildFilesAddress(params));
  }
  expect(buildFilesAddress({ show: "files", path: "src/a b.ts", line: 12 })).toBe("/files/src/a%20b.ts?line=12");
  expect(summarizeAt("/app/global/alice/files/?version=-1&line=x&branch=")).toEqual({
    ...expectedAgent("global", "alice"),
    view: "files",
    params: { show: "files" },
  });
  for (const path of ["/app/global/~usage/files", "/app/~usage/alice/files", "/app/global/alice/file"]) {
    expect(summarizeAt(path)).toBe("none");
  }
});

test("every registered view is found at each of its own addresses, and builds that address again", () => {
  expect(allViews.length).toBeGreaterThanOrEqual(6);
  for (const view of allViews) {
    const base = bases[view.scope];
    for (const address of [view.path, ...view.segments.map((segment) => `/${segment}`)]) {
      const place = findPlace(base + address);
      if (place.scope === "none") throw new Error(`Nothing is at ${base}${address}.`);
      expect(place.match.view).toBe(view);
      const again = findPlace(base + place.match.path);
      expect(summarize(again)).toEqual(summarize(place));
    }
  }
});

test("whatever stands in an address, it leads to a view or nowhere", () => {
  const paths = ["/%00", "/..", "/__proto__/constructor", "/%F0%9F%92%A9", "/a/".repeat(500)];
  const tails = [...paths, "?branch=%E0%A4", "?=&&&version=9e99"];
  for (const view of allViews) {
    for (const tail of tails) {
      const place = findPlace(bases[view.scope] + view.path + tail);
      if (place.scope !== "none") expect(typeof (place.match.title ?? "")).toBe("string");
    }
  }
  for (const path of ["", "?", "//", "/app/__proto__", "/app/constructor/toString"]) findPlace(path);
  expect(summarizeAt("/app/a/b/constructor")).toBe("none");
});

test("document titles name what is shown", () => {
  const findTitle = (address: string) => {
    const place = findPlace(address);
    return place.scope === "none" ? "none" : place.match.title;
  };
  for (const path of ["/app", "/app/global", "/app/global/alice"]) expect(findTitle(path)).toBeUndefined();
  expect([findTitle("/app/~usage"), findTitle("/app/global/~usage")]).toEqual(["Usage", "Usage"]);
  expect(findTitle("/app/global/alice/files")).toBe("Files");
  expect(findTitle("/app/global/alice/history/a.md")).toBe("a.md, history");
});

/** A view as a later part would add it, with params of its own. */
const tasks = defineView({
  scope: "agent",
  name: "tasks",
  label: "Tasks",
  order: 5,
  address: {
    segments: ["tasks"],
    initial: { open: 0 },
    parse: ([, ...rest], query) => (rest.length === 0 ? { open: Number(query.get("open") ?? 0) } : undefined),
    build: ({ open }: { open: number }) => (open > 0 ? `/tasks?open=${open}` : "/tasks"),
  },
  Badge: ({ agent, current }) => createElement("b", null, `${agent.name}${current ? " here" : ""}`),
  Component: ({ agency, params }) => createElement("p", null, `Task ${params.open} of ${agency.name}`),
});

const props: AgentViewProps = {
  user: "owner",
  agency: { id: "global", name: "Global" } as Agency,
  agent: { name: "alice", agency: "global" } as Agent,
  blueprint: undefined,
  model: undefined,
  think: {} as Think,
  running: true,
};

test("a view that is registered is routed and has a tab in its place, with its badge", () => {
  const registry = createViewRegistry([...allViews, tasks]);
  const place = registry.findPlace("/app/global/alice/tasks?open=3");
  if (place.scope !== "agent") throw new Error("The view was not found.");
  expect(place.match.title).toBe("Tasks");
  expect(renderToStaticMarkup(place.match.render(props))).toBe("<p>Task 3 of Global</p>");

  const base = buildPath("global", "alice");
  const views = registry.views.agent;
  const current = place.match.view;
  const markup = renderToStaticMarkup(createElement(ViewTabs<"agent">, { of: "alice", views, current, base, props }));
  expect(markup.match(/<a .*?<\/a>/g)).toEqual([
    expect.stringMatching(/^<a href="\/app\/global\/alice">Conversation<span .*aria-label="at work".*<\/a>$/),
    '<a aria-current="page" href="/app/global/alice/tasks">Tasks<b>alice here</b></a>',
    '<a href="/app/global/alice/files">Files</a>',
  ]);

  expect(findPlace("/app/global/alice/tasks")).toEqual({ scope: "none" });
});

test("a registry with an ambiguous or unreachable view is refused", () => {
  const Component = () => null;
  const make = (scope: "host" | "agency" | "agent", name: string, segment?: string): AnyView => {
    const address = segment === undefined ? indexAddress : createSegmentAddress(segment);
    return defineView({ scope, name, label: name, order: 0, address, Component }) as AnyView;
  };
  const create =
    (...views: AnyView[]) =>
    () =>
      createViewRegistry([...allViews, ...views]);
  expect(create(make("agent", "other"))).toThrow("The agent scope has 2 index views");
  expect(create(make("agent", "other", "files"))).toThrow("“files”");
  expect(create(make("agent", "files", "other"))).toThrow("“files”");
  expect(create(make("agency", "members", "members"))).toThrow("begin with “~”");
  expect(create(make("agency", "members", "~members"))).not.toThrow();
  expect(() => createViewRegistry(allViews.filter((view) => !isIndex(view)))).toThrow("0 index views");
});

import type { Agency, Agent, ListedBlueprint } from "@thinkery/sdk";
import type { Think } from "@thinkery/sdk/react";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { documentsAddress, type FilesPlace, filesAddress } from "../frame/files-place.ts";
import {
  buildChannelPath,
  homePath,
  buildPackagePath,
  buildPath,
  buildTurnPath,
  buildUsagePath,
} from "../frame/navigation.ts";
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

test("agencies and agents are found at their paths", () => {
  expect(summarizeAt(buildPath("global"))).toEqual({ scope: "agency", agency: "global", view: "agents", params: {} });
  expect(summarizeAt(buildPath("review:pr-123", "alice"))).toEqual(expectedAgent("review:pr-123", "alice"));
  expect(buildPath("review:pr-123")).toBe("/app/review:pr-123");
});

test("sub-agents and their views are found at any depth", () => {
  const path = "alice/subagent-task-1/subagent-task-2";
  expect(buildPath("global", path)).toBe("/app/global/alice/~sub/subagent-task-1/~sub/subagent-task-2");
  expect(summarizeAt(buildPath("global", path))).toEqual(expectedAgent("global", path));
  expect(summarizeAt(`${buildPath("global", "alice/x")}/files/~sub/a.md`)).toEqual({
    ...expectedAgent("global", "alice/x"),
    view: "files",
    params: { show: "files", path: "~sub/a.md" },
  });
  for (const tail of ["/~sub", "/~sub/~sub", "/~sub/x/~sub"]) expect(summarizeAt(bases.agent + tail)).toBe("none");
});

test("a conversation has an address for each of its turns", () => {
  const address = buildTurnPath("global", "alice", "turn 1");
  expect(address).toBe("/app/global/alice?turn=turn%201");
  expect(summarizeAt(address)).toEqual({ ...expectedAgent("global", "alice"), params: { turn: "turn 1" } });
  expect(summarizeAt("/app/global/alice?turn=")).toEqual(expectedAgent("global", "alice"));
});

test("usage has one address per agency and one for all, whatever agencies and agents are called", () => {
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

test("the packages of an agency have addresses, whatever they are called", () => {
  const expected = { scope: "agency", agency: "global", view: "packages" };
  expect(summarizeAt(buildPackagePath("global"))).toEqual({ ...expected, params: {} });
  expect(buildPackagePath("global", "my-agent")).toBe("/app/global/~packages/my-agent");
  expect(summarizeAt(buildPackagePath("global", "a/b c"))).toEqual({ ...expected, params: { name: "a/b c" } });
  expect(summarizeAt("/app/global/~packages/hello/more")).toBe("none");
});

test("channels, their messages and their threads have addresses, whatever they are called", () => {
  const expected = { scope: "agency", agency: "global", view: "channels" };
  for (const params of [
    {},
    { channel: "general" },
    { channel: "@bob" },
    { channel: "a/b c" },
    { channel: "alice+~owner", message: "msg-7" },
    { channel: "general", thread: "msg-3" },
    { channel: "general", message: "msg-7", thread: "msg-3" },
  ]) {
    expect(summarizeAt(buildChannelPath("global", params))).toEqual({ ...expected, params });
  }
  expect(buildChannelPath("global", { channel: "@bob" })).toBe("/app/global/~channels/@bob");
  expect(summarizeAt("/app/global/~channels?thread=msg-3")).toEqual({ ...expected, params: {} });
  expect(summarizeAt("/app/global/~channels/general/msg-7/x")).toBe("none");
});

test("documents have the addresses of files, below their agency", () => {
  for (const params of [
    { show: "files" },
    { show: "files", path: "notes/a b.md", line: 3 },
    { show: "history", path: "notes", version: 7 },
  ] satisfies FilesPlace[]) {
    const address = buildPath("global") + documentsAddress.build(params);
    expect(summarizeAt(address)).toEqual({ scope: "agency", agency: "global", view: "documents", params });
  }
  expect(documentsAddress.build({ show: "files", path: "a.md" })).toBe("/~documents/a.md");
});

test("the root and /app are home, with or without a trailing slash", () => {
  for (const path of ["/", "/app", "/app/"])
    expect(summarizeAt(path)).toEqual({ scope: "host", view: "home", params: {} });
});

test("an unknown or undecodable path has no view", () => {
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

test("files, folders, versions and branches of an agent have addresses", () => {
  const places: FilesPlace[] = [
    { show: "files" },
    { show: "files", path: "src/a b#?%.ts", line: 12 },
    { show: "files", path: "files/history", version: 3, branch: "draft.1" },
    { show: "history" },
    { show: "history", path: "src", version: 41 },
  ];
  for (const params of places) {
    const place = findPlace(bases.agent + filesAddress.build(params));
    expect(summarize(place)).toEqual({ ...expectedAgent("review:pr-123", "alice"), view: "files", params });
    expect(place.scope === "agent" && place.match.path).toBe(filesAddress.build(params));
  }
  expect(filesAddress.build({ show: "files", path: "src/a b.ts", line: 12 })).toBe("/files/src/a%20b.ts?line=12");
  expect(summarizeAt("/app/global/alice/files/?version=-1&line=x&branch=")).toEqual({
    ...expectedAgent("global", "alice"),
    view: "files",
    params: { show: "files" },
  });
  for (const path of ["/app/global/~usage/files", "/app/~usage/alice/files", "/app/global/alice/file"]) {
    expect(summarizeAt(path)).toBe("none");
  }
});

test("every registered view is found at each of its addresses and builds the same address again", () => {
  expect(allViews.length).toBeGreaterThanOrEqual(6);
  for (const view of allViews) {
    const base = bases[view.scope];
    for (const address of [view.path, ...view.segments.map((segment) => `/${segment}`)]) {
      const place = findPlace(base + address);
      if (place.scope === "none") throw new Error(`No view at ${base}${address}.`);
      expect(place.match.view).toBe(view);
      const rebuilt = findPlace(base + place.match.path);
      expect(summarize(rebuilt)).toEqual(summarize(place));
    }
  }
});

test("any address leads to a view or to none", () => {
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

test("document titles name the view", () => {
  const findTitle = (address: string) => {
    const place = findPlace(address);
    return place.scope === "none" ? "none" : place.match.title;
  };
  for (const path of ["/app", "/app/global", "/app/global/alice"]) expect(findTitle(path)).toBeUndefined();
  expect([findTitle("/app/~usage"), findTitle("/app/global/~usage")]).toEqual(["Usage", "Usage"]);
  expect(findTitle("/app/global/alice/files")).toBe("Files");
  expect(findTitle("/app/global/alice/history/a.md")).toBe("History for a.md");
});

/** An additional view with its own params. */
const board = defineView({
  scope: "agent",
  name: "board",
  label: "Board",
  order: 5,
  address: {
    segments: ["board"],
    initial: { open: 0 },
    parse: ([, ...rest], query) => (rest.length === 0 ? { open: Number(query.get("open") ?? 0) } : undefined),
    build: ({ open }: { open: number }) => (open > 0 ? `/board?open=${open}` : "/board"),
  },
  Badge: ({ agent, current }) => createElement("b", null, `${agent.name}${current ? " here" : ""}`),
  Component: ({ agency, params }) => createElement("p", null, `Card ${params.open} of ${agency.name}`),
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

test("a registered view is routed and has a tab with its badge, in order", () => {
  const registry = createViewRegistry([...allViews, board]);
  const place = registry.findPlace("/app/global/alice/board?open=3");
  if (place.scope !== "agent") throw new Error("The view was not found.");
  expect(place.match.title).toBe("Board");
  expect(renderToStaticMarkup(place.match.render(props))).toBe("<p>Card 3 of Global</p>");

  const base = buildPath("global", "alice");
  const views = registry.views.agent;
  const current = place.match.view;
  const markup = renderToStaticMarkup(createElement(ViewTabs<"agent">, { of: "alice", views, current, base, props }));
  expect(markup.match(/<a .*?<\/a>/g)).toEqual([
    expect.stringMatching(/^<a href="\/app\/global\/alice">Conversation<span .*aria-label="running".*<\/a>$/),
    '<a aria-current="page" href="/app/global/alice/board">Board<b>alice here</b></a>',
    '<a href="/app/global/alice/files">Files</a>',
    '<a href="/app/global/alice/tasks">Tasks</a>',
    '<a href="/app/global/alice/schedules">Schedules</a>',
  ]);

  expect(findPlace("/app/global/alice/board")).toEqual({ scope: "none" });
});

test("the code and its settings have tabs only for agents that run code of a user", () => {
  const listTabs = (part: Partial<AgentViewProps>) => {
    const views = viewRegistry.views.agent;
    const own = { ...props, ...part };
    const markup = renderToStaticMarkup(
      createElement(ViewTabs<"agent">, {
        of: "alice",
        views,
        current: views[0]!,
        base: "/app/global/alice",
        props: own,
      }),
    );
    return [...markup.matchAll(/<a [^>]*>([^<]*)/g)].map(([, label]) => label);
  };
  const usual = ["Conversation", "Files", "Tasks", "Schedules"];
  expect(listTabs({})).toEqual(usual);
  expect(listTabs({ agent: { ...props.agent, driver: "isolate" } })).toEqual([...usual, "Code", "Settings"]);
  const blueprint = { name: "hello", driver: "isolate" } as ListedBlueprint;
  expect(listTabs({ blueprint })).toContain("Code");
  expect(listTabs({ blueprint, agent: { ...props.agent, driver: "think" } })).toEqual(usual);
});

test("a registry with an ambiguous or unreachable view throws", () => {
  const Component = () => null;
  const createView = (scope: "host" | "agency" | "agent", name: string, segment?: string): AnyView => {
    const address = segment === undefined ? indexAddress : createSegmentAddress(segment);
    return defineView({ scope, name, label: name, order: 0, address, Component }) as AnyView;
  };
  const create =
    (...views: AnyView[]) =>
    () =>
      createViewRegistry([...allViews, ...views]);
  expect(create(createView("agent", "other"))).toThrow("The agent scope has 2 index views");
  expect(create(createView("agent", "other", "files"))).toThrow("“files”");
  expect(create(createView("agent", "files", "other"))).toThrow("“files”");
  expect(create(createView("agency", "people", "people"))).toThrow("begin with “~”");
  expect(create(createView("agency", "people", "~people"))).not.toThrow();
  expect(() => createViewRegistry(allViews.filter((view) => !isIndex(view)))).toThrow("0 index views");
});

import { expect, test } from "vitest";
import { type FilesPlace, filesAddress } from "./files-place.ts";
import { pathTo, placeAt, usagePath } from "./place.ts";

test("every place is found again at the path that leads to it", () => {
  expect(placeAt(pathTo("global"))).toEqual({ view: "agency", agency: "global" });
  expect(placeAt(pathTo("review:pr-123", "alice"))).toEqual({
    view: "agent",
    agency: "review:pr-123",
    agent: "alice",
  });
  expect(pathTo("review:pr-123")).toBe("/app/review:pr-123");
});

test("what was used has a place in each agency and one above them, whatever agencies and agents are called", () => {
  expect(placeAt(usagePath())).toEqual({ view: "usage" });
  expect(placeAt(usagePath("review:pr-123"))).toEqual({ view: "usage", agency: "review:pr-123" });
  expect(placeAt(pathTo("usage", "usage"))).toEqual({ view: "agent", agency: "usage", agent: "usage" });
});

test("the root and /app are home, with or without a slash at the end", () => {
  for (const path of ["/", "/app", "/app/"]) expect(placeAt(path)).toEqual({ view: "home" });
});

test("a path that leads nowhere is said to be lost, even one that cannot be decoded", () => {
  for (const path of ["/app/%E0%A4%A", "/app/a/b/c", "/app/~usage/a", "/elsewhere"]) expect(placeAt(path)).toEqual({ view: "lost" });
});

test("a file, a folder, a version and a branch of an agent have addresses of their own", () => {
  const agent = { view: "agent", agency: "review:pr-123", agent: "alice" };
  const places: FilesPlace[] = [
    { show: "files" },
    { show: "files", path: "src/a b#?%.ts", line: 12 },
    { show: "files", path: "files/history", version: 3, branch: "draft.1" },
    { show: "history" },
    { show: "history", path: "src", version: 41 },
  ];
  for (const files of places) expect(placeAt(pathTo("review:pr-123", "alice") + filesAddress(files))).toEqual({ ...agent, files });
  expect(placeAt("/app/global/alice/files/?version=-1&line=x&branch=")).toEqual({ view: "agent", agency: "global", agent: "alice", files: { show: "files" } });
  for (const path of ["/app/global/~usage/files", "/app/~usage/alice/files", "/app/global/alice/file"]) expect(placeAt(path)).toEqual({ view: "lost" });
});

import type { FileInfo, Origin, Version } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { findRecentMarks } from "./marks.ts";

const now = Date.parse("2026-01-01T12:00:00Z");
const file = (path: string, version: number): FileInfo => ({
  path,
  kind: "text",
  size: 1,
  mediaType: "text/plain",
  hash: "h",
  version,
  modifiedAt: "",
});
const version = (id: number, minutesAgo: number, origin: Origin): Version => ({
  id,
  at: new Date(now - minutesAgo * 60_000).toISOString(),
  origin,
  changes: [],
});

test("files changed in the last hour are marked with their last author", () => {
  const versions = [
    version(3, 5, { kind: "agent" }),
    version(2, 59, { kind: "user", user: "ben" }),
    version(1, 61, { kind: "user", user: "ann" }),
  ];
  const marks = findRecentMarks(
    [file("a", 3), file("b", 2), file("c", 1), file("d", 0)],
    versions,
    "ann",
    "alice",
    now,
  );
  expect([...marks].map(([path, { by, who }]) => [path, by, who])).toEqual([
    ["a", "agent", "alice"],
    ["b", "user", "ben"],
  ]);
});

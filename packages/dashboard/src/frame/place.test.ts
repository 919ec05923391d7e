import { expect, test } from "vitest";
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

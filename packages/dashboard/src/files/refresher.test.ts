import type { FileInfo } from "@thinkery/sdk";
import type { FileChanges } from "@thinkery/sdk/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Refresher } from "./refresher.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const file = (path: string, kind: FileInfo["kind"]): FileInfo => ({
  path,
  kind,
  size: 1,
  mediaType: "",
  hash: "",
  version: 1,
  modifiedAt: "",
});
const listing = { files: [file("a.md", "text"), file("b.png", "binary")], version: 1, more: false };
const change = (path: string, kind: "edit" | "add" = "edit", by: "user" | "agent" = "user"): FileChanges => ({
  version: 2,
  by,
  changes: [{ path, kind }],
  more: 0,
});

/** Returns a function that advances the time and returns the number of refreshes so far. */
function countRefreshes(...changes: FileChanges[]) {
  const refresh = vi.fn();
  const refresher = new Refresher(refresh);
  for (const changed of changes) refresher.handleChange(changed, listing);
  return (ms: number) => {
    vi.advanceTimersByTime(ms);
    return refresh.mock.calls.length;
  };
}

test("refreshes are delayed while a user types, because a refresh would end the version being typed", () => {
  const after = countRefreshes(change("a.md"));
  expect([after(5000), after(9000), after(2000)]).toEqual([0, 0, 1]);
});

test("other changes are refreshed immediately, and frequent ones are throttled", () => {
  for (const changed of [change("a.md", "edit", "agent"), change("b.png"), change("c.md", "add"), change("c.md")])
    expect(countRefreshes(changed)(500)).toBe(1);
  expect(countRefreshes(change("a.md"), change("a.md", "edit", "agent"))(500)).toBe(1);
  expect(countRefreshes(change("a.md", "edit", "agent"), change("a.md"))(500)).toBe(1);

  const refresh = vi.fn();
  const refresher = new Refresher(refresh);
  for (let turn = 0; turn < 100; turn++) {
    refresher.schedule();
    vi.advanceTimersByTime(20);
  }
  expect(refresh.mock.calls.length).toBeLessThanOrEqual(5);
  refresher.schedule();
  refresher.stop();
  const before = refresh.mock.calls.length;
  vi.advanceTimersByTime(20_000);
  expect(refresh.mock.calls.length).toBe(before);
});

import type { FileInfo } from "@thinkery/sdk";
import type { Changed } from "@thinkery/sdk/react";
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
const change = (path: string, kind: "edit" | "add" = "edit", by: "user" | "agent" = "user"): Changed => ({
  version: 2,
  by,
  changes: [{ path, kind }],
  more: 0,
});

/** How often it has looked after so many milliseconds. */
function countRefreshes(...changes: Changed[]) {
  const look = vi.fn();
  const refresher = new Refresher(look);
  for (const one of changes) refresher.handleChange(one, listing);
  return (ms: number) => {
    vi.advanceTimersByTime(ms);
    return look.mock.calls.length;
  };
}

test("while a person types in a text, nobody looks, because looking would end the version that they type", () => {
  const after = countRefreshes(change("a.md"));
  expect([after(5000), after(9000), after(2000)]).toEqual([0, 0, 1]);
});

test("anything else is looked at at once, and many changes not much more often than one", () => {
  for (const one of [change("a.md", "edit", "agent"), change("b.png"), change("c.md", "add"), change("c.md")])
    expect(countRefreshes(one)(500)).toBe(1);
  expect(countRefreshes(change("a.md"), change("a.md", "edit", "agent"))(500)).toBe(1);
  expect(countRefreshes(change("a.md", "edit", "agent"), change("a.md"))(500)).toBe(1);

  const look = vi.fn();
  const refresher = new Refresher(look);
  for (let turn = 0; turn < 100; turn++) {
    refresher.schedule();
    vi.advanceTimersByTime(20);
  }
  expect(look.mock.calls.length).toBeLessThanOrEqual(5);
  refresher.schedule();
  refresher.stop();
  const before = look.mock.calls.length;
  vi.advanceTimersByTime(20_000);
  expect(look.mock.calls.length).toBe(before);
});

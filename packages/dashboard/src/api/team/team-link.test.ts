import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLinkDouble } from "./team-double.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("one connection serves everyone who retains it, and closes a while after the last has left", () => {
  const { link, counts, sync } = createLinkDouble();
  const release = [link.retain(), link.retain()];
  sync();
  expect([counts.opened, link.connection.get().state]).toEqual([1, "open"]);
  release[0]?.();
  release[0]?.();
  vi.advanceTimersByTime(60_000);
  expect(counts.closed).toBe(0);
  release[1]?.();
  const releaseAgain = link.retain();
  vi.advanceTimersByTime(60_000);
  expect(counts.closed).toBe(0);
  releaseAgain();
  vi.advanceTimersByTime(60_000);
  expect([counts.opened, counts.closed, link.connection.get().state]).toEqual([1, 1, "closed"]);
  link.retain();
  expect(counts.opened).toBe(2);
});

test("frames go to everyone who listens", () => {
  const { link, send } = createLinkDouble();
  link.retain();
  const seen: string[] = [];
  const stop = link.listen(({ type }) => seen.push(`one ${type}`));
  link.listen(({ type }) => seen.push(`two ${type}`));
  send({ type: "agent-removed", name: "bob" });
  stop();
  send({ type: "sync", agents: [] });
  expect(seen).toEqual(["one agent-removed", "two agent-removed", "two sync"]);
});

import type { SubagentFrame } from "@thinkery/sdk";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FrameRelay } from "./frame-relay.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const write = (delta: string, taskId = "t1"): SubagentFrame => ({ type: "subagent_text_delta", taskId, delta });
const call: SubagentFrame = { type: "subagent_tool_call", taskId: "t1", toolName: "bash", input: { command: "ls" } };

function createRelay(respond: () => Promise<{ hasListeners: boolean }>) {
  const batches: SubagentFrame[][] = [];
  const relay = new FrameRelay({
    throttleMs: 50,
    send: (frames) => {
      batches.push(frames);
      return respond();
    },
    waitUntil: () => {},
  });
  return { relay, batches };
}

test("a batch is sent at once and the next one 50 ms later, with the text of one task in one frame", async () => {
  const { relay, batches } = createRelay(async () => ({ hasListeners: true }));
  relay.add(write("a"));
  await vi.advanceTimersByTimeAsync(0);
  expect(batches).toEqual([[write("a")]]);
  for (const letter of "bcd") {
    relay.add(write(letter));
    await vi.advanceTimersByTimeAsync(10);
  }
  relay.add(call);
  relay.add(write("e"));
  relay.add(write("f", "t2"));
  await vi.advanceTimersByTimeAsync(19);
  expect(batches).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(batches.slice(1)).toEqual([[write("bcd"), call, write("e"), write("f", "t2")]]);
});

test("a parent that takes long gets one batch at a time, and never more than the limit", async () => {
  const answers: ((response: { hasListeners: boolean }) => void)[] = [];
  const { relay, batches } = createRelay(() => new Promise((resolve) => void answers.push(resolve)));
  relay.add(write("a"));
  await vi.advanceTimersByTimeAsync(0);
  const half = "x".repeat(600_000);
  for (const text of [half, half, "y"]) relay.add(write(text));
  await vi.advanceTimersByTimeAsync(1000);
  expect(batches).toHaveLength(1);
  answers[0]?.({ hasListeners: true });
  await vi.advanceTimersByTimeAsync(0);
  expect(batches.slice(1)).toEqual([[write(`${half}y`)]]);
});

test("while nobody listens, frames are dropped, and it is asked again after a pause", async () => {
  let hasListeners = false;
  const { relay, batches } = createRelay(async () => ({ hasListeners }));
  relay.add(write("a"));
  await vi.advanceTimersByTimeAsync(0);
  for (let index = 0; index < 20; index++) {
    relay.add(write("b"));
    await vi.advanceTimersByTimeAsync(10);
  }
  expect([batches.length, relay.isOpen]).toEqual([1, false]);
  hasListeners = true;
  await vi.advanceTimersByTimeAsync(100);
  for (const text of ["c", "d"]) {
    relay.add(write(text));
    await vi.advanceTimersByTimeAsync(50);
  }
  expect(batches.slice(1)).toEqual([[write("c")], [write("d")]]);
});

test("a flush sends the rest at once, and an error of the parent is no error of the sub-agent", async () => {
  const { relay, batches } = createRelay(() => Promise.reject(new Error("gone")));
  relay.add(write("a"));
  await relay.flush();
  expect(batches).toEqual([[write("a")]]);
  await relay.flush();
  expect(batches).toHaveLength(1);
});

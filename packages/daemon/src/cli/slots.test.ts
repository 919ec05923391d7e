import { expect, test } from "vitest";
import { formatSlots } from "./slots.ts";

test("each sandbox shows whose code it runs, its memory and its restarts", () => {
  const lines = formatSlots({
    sandboxes: [
      {
        name: "sandbox-0",
        state: "ready",
        restarts: 0,
        memoryBytes: 64 * 1024 * 1024,
        agent: "review:pr-1~alice",
        runs: 1,
      },
      { name: "sandbox-1", state: "ready", restarts: 3, memoryBytes: 59.7 * 1024 * 1024, runs: 0 },
      { name: "sandbox-2", state: "restarting", restarts: 1, agent: "global~bob" },
    ],
    waitingRuns: 2,
  });
  expect(lines).toEqual([
    "2 of 3 ready, 2 runs queued",
    "sandbox-0: running code of alice@review:pr-1, 64 MB, 1 run",
    "sandbox-1: idle, 60 MB, 0 runs, 3 restarts",
    "sandbox-2: restarting, 1 restart",
  ]);
  expect(formatSlots({})).toEqual(["0 of 0 ready"]);
  expect(formatSlots({ sandboxes: [], waitingRuns: 1 })[0]).toBe("0 of 0 ready, 1 run queued");
});

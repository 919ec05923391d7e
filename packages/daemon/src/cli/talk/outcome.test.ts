import type { Outcome } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { exitCodeFor } from "./outcome.ts";

const outcome = (rest: Pick<Outcome, "status" | "failure">): Outcome => ({
  runId: "r",
  agent: "a",
  content: "",
  toolCalls: [],
  usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
  ...rest,
});

test("only what was completed exits with 0, and a budget has an exit code of its own", () => {
  expect(exitCodeFor(outcome({ status: "completed" }))).toBe(0);
  expect(exitCodeFor(outcome({ status: "canceled" }))).toBe(1);
  expect(exitCodeFor(outcome({ status: "error", failure: { code: "model_auth", message: "No." } }))).toBe(1);
  for (const code of ["steps", "budget"] as const) expect(exitCodeFor(outcome({ status: "error", failure: { code, message: "No." } }))).toBe(5);
});

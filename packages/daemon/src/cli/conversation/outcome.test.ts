import type { Outcome } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { toOutcomeExitCode } from "./outcome.ts";

const createOutcome = (rest: Pick<Outcome, "status" | "failure">): Outcome => ({
  runId: "r",
  agent: "a",
  content: "",
  toolCalls: [],
  usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
  ...rest,
});

test("only completed turns exit with 0, and an exceeded budget has its own exit code", () => {
  expect(toOutcomeExitCode(createOutcome({ status: "completed" }))).toBe(0);
  expect(toOutcomeExitCode(createOutcome({ status: "canceled" }))).toBe(1);
  expect(toOutcomeExitCode(createOutcome({ status: "error", failure: { code: "model_auth", message: "No." } }))).toBe(
    1,
  );
  for (const code of ["steps", "budget"] as const)
    expect(toOutcomeExitCode(createOutcome({ status: "error", failure: { code, message: "No." } }))).toBe(5);
});

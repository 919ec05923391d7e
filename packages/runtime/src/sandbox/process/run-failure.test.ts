import { expect, test } from "vitest";
import { toRunFailure } from "./run-failure.ts";
import { SourceError } from "./source-error.ts";

test("errors that only the engine finds are located in the source", () => {
  // As reported by workerd.
  const error = new Error(
    "Failed to start Worker:\nUncaught SyntaxError: Identifier 'a' has already been declared\n  at lib/u.ts:3:8",
  );
  const prepared = {
    sources: { "lib/u.ts": "let b: number;\nlet a: any, a" },
    columnMaps: { "lib/u.ts": { 2: [[5, 10] as [number, number]] } },
  };
  expect(toRunFailure(error, prepared)).toEqual({
    kind: "syntax",
    message:
      "SyntaxError: Identifier 'a' has already been declared (lib/u.ts:2:13)\n\n  2 | let a: any, a\n    |             ^",
  });
  expect(
    toRunFailure(error, { sources: { "lib/u.ts": "\n\nlet a, a;" }, columnMaps: {}, headerLines: 0 }),
  ).toMatchObject({
    message: "SyntaxError: Identifier 'a' has already been declared (lib/u.ts:3:8)\n\n  3 | let a, a;\n    |        ^",
  });
  expect(toRunFailure(new Error("Failed to start Worker:\nUncaught SyntaxError: Odd"))).toEqual({
    kind: "syntax",
    message: "SyntaxError: Odd",
  });
});

test.each([
  [new SourceError("limit", "Too much."), { kind: "limit", message: "Too much." }],
  [new Error("Worker exceeded CPU time limit."), { kind: "limit", message: "The code exceeded CPU time limit." }],
  [new Error("Worker exceeded memory limit."), { kind: "limit", message: "The code exceeded memory limit." }],
  [new Error("something else"), { kind: "threw", message: "The code was stopped: something else" }],
  ["no error", { kind: "threw", message: "The code was stopped: no error" }],
])("%s", (error, failure) => {
  expect(toRunFailure(error)).toEqual(failure);
});

import { expect, test } from "vitest";
import { z } from "zod";
import { errorBodySchema, createValidationError } from "./error-body.ts";
import { toErrorBody, errorCodes, errorFromBody, fail, isThinkeryError, toHttpStatus } from "./errors.ts";

test("an error keeps what it is when its class is lost on the way, as between objects", () => {
  const original = fail("conflict", "Taken.", { suggestion: "other" });
  const arrived = Object.assign(new Error(original.message), {
    name: original.name,
    code: original.code,
    details: original.details,
  });
  expect(isThinkeryError(arrived)).toBe(true);
  expect(toErrorBody(arrived as typeof original)).toEqual({
    error: { code: "conflict", message: "Taken.", details: { suggestion: "other" } },
  });
  expect(isThinkeryError(new Error("x"))).toBe(false);
  expect(isThinkeryError(Object.assign(new Error("x"), { name: "ThinkeryError", code: "made_up" }))).toBe(false);
  expect(isThinkeryError("ThinkeryError")).toBe(false);
});

test("an error is read back from its body, and from nothing else", () => {
  expect(errorFromBody(toErrorBody(fail("conflict", "Taken.", { suggestion: "other" })))).toMatchObject({
    code: "conflict",
    message: "Taken.",
    details: { suggestion: "other" },
  });
  for (const body of [
    undefined,
    null,
    "x",
    [],
    {},
    { error: null },
    { error: "x" },
    { error: { code: "made_up", message: "x" } },
    { error: { code: "conflict" } },
  ]) {
    expect([body, errorFromBody(body)]).toEqual([body, undefined]);
  }
});

test("every code has a status that says refusal, and fits the schema of answers", () => {
  for (const code of errorCodes) {
    expect(toHttpStatus(code)).toBeGreaterThanOrEqual(400);
    expect(errorBodySchema.safeParse(toErrorBody(fail(code, "x"))).success).toBe(true);
  }
});

test("a failed parse names every problem by its path, an unknown key by its own name", () => {
  const schema = z.strictObject({ a: z.strictObject({ b: z.number() }), list: z.array(z.string()) });
  const { error } = schema.safeParse({ a: { b: "x", c: 1 }, list: ["ok", 5], d: 1 });
  const found = createValidationError("body", error as z.ZodError);
  expect(found.code).toBe("bad_request");
  expect(found.details?.problems?.map(({ path }) => path.join("."))).toEqual(["a.b", "a.c", "list.1", "d"]);
});

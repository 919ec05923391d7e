import { expect, test } from "vitest";
import { z } from "zod";
import { errorBodySchema, createValidationError } from "./error-body.ts";
import { toErrorBody, errorCodes, errorFromBody, fail, isThinkeryError, toHttpStatus } from "./errors.ts";

test("an error is still recognized if its class is lost, as in RPC between objects", () => {
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

test("an error is parsed from its body, and from nothing else", () => {
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

test("every code has an error status and matches the schema", () => {
  for (const code of errorCodes) {
    expect(toHttpStatus(code)).toBeGreaterThanOrEqual(400);
    expect(errorBodySchema.safeParse(toErrorBody(fail(code, "x"))).success).toBe(true);
  }
});

test("a failed parse lists every issue with its path, which includes unknown keys", () => {
  const schema = z.strictObject({ a: z.strictObject({ b: z.number() }), list: z.array(z.string()) });
  const { error } = schema.safeParse({ a: { b: "x", c: 1 }, list: ["ok", 5], d: 1 });
  const converted = createValidationError("body", error as z.ZodError);
  expect(converted.code).toBe("bad_request");
  expect(converted.details?.issues?.map(({ path }) => path.join("."))).toEqual(["a.b", "a.c", "list.1", "d"]);
  expect(converted.message).toBe("Invalid `a.b`: expected number, received string.");
});

test("an unknown field is reported with the nearest field of its object", () => {
  const item = z.strictObject({ created: z.string().optional() });
  const schema = z.strictObject({ items: z.array(item).default([]), limit: z.number().optional() });
  const getMessage = (subject: string, value: unknown) =>
    createValidationError(subject, schema.safeParse(value).error as z.ZodError, schema).message;
  expect(getMessage("body", { items: [{ create: 1 }] })).toBe(
    "Unknown field `items.0.create`. Did you mean `created`?",
  );
  expect(getMessage("query", { limt: 1 })).toBe("Unknown field `limt` in the query. Did you mean `limit`?");
  expect(getMessage("query", { somethingElse: 1 })).toBe("Unknown field `somethingElse` in the query.");
  expect(getMessage("query", 5)).toBe("Invalid query: expected object, received number.");
});

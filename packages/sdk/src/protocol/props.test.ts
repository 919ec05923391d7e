import { expect, test } from "vitest";
import { isThinkeryError } from "./errors.ts";
import { parseProps } from "./props.ts";

const loop: { inner: { self?: unknown } } = { inner: {} };
loop.inner.self = loop;

class Money {
  cents = 1;
}

const unserializable: [string, unknown, (string | number)[], string][] = [
  ["a function", { run: () => 1 }, ["run"], "is a function"],
  ["a symbol", { word: Symbol("x") }, ["word"], "is a symbol"],
  ["a symbol as a key", { [Symbol("x")]: 1 }, ["Symbol(x)"], "is under a symbol"],
  ["a bigint", { list: [1, { big: 1n }] }, ["list", 1, "big"], "is a bigint"],
  ["NaN", { list: [0, Number.NaN] }, ["list", 1], "is NaN"],
  ["infinity", { far: -Infinity }, ["far"], "is -Infinity"],
  ["a date", { at: new Date(0) }, ["at"], "is a Date"],
  ["a map", { by: new Map() }, ["by"], "is a Map"],
  ["bytes", { raw: new Uint8Array(1) }, ["raw"], "is a Uint8Array"],
  ["an object of a class", { cost: new Money() }, ["cost"], "is a Money"],
  ["a circular reference", { loop }, ["loop", "inner", "self"], "is a circular reference"],
  [
    "too many levels",
    { deep: Array.from({ length: 100 }).reduce((inner) => [inner], 0) },
    ["deep", ...Array(62).fill(0)],
    "is more than 64 levels deep",
  ],
];

test.each(unserializable)("props with %s are rejected with the path", (_, data, path, message) => {
  const error = getError({ data });
  expect(error).toMatchObject({
    code: "bad_request",
    details: { issues: [{ path: ["props", "data", ...path], message }] },
  });
  expect(error.message).toContain(`props.data.${path.join(".")} ${message}`);
});

test("undefined in a list or an object is rejected with its path, and an undefined prop is dropped", () => {
  expect(getError({ data: { list: [undefined] } })).toMatchObject({
    details: { issues: [{ path: ["props", "data", "list", 0] }] },
  });
  expect(getError({ data: { a: { b: undefined } } })).toMatchObject({
    details: { issues: [{ path: ["props", "data", "a", "b"] }] },
  });
  expect(parseProps({ additionalInstructions: undefined })).toEqual({});
});

test("anything that is not an object is rejected", () => {
  for (const value of [null, 5, "x", [], () => 1])
    expect(getError(value).details?.issues?.[0]?.path).toEqual(["props"]);
});

test("no key removes anything", () => {
  expect(getError({ withoutTools: ["bash"] })).toMatchObject({
    details: { issues: [{ path: ["props", "withoutTools"], message: "unknown field" }] },
  });
  expect(getError({ tools: { bash: null } })).toMatchObject({
    details: { issues: [{ path: ["props", "tools"] }] },
  });
});

test("plain data is returned unchanged, even if it contains the same object twice", () => {
  const shared = { a: 1 };
  const data = {
    text: "x",
    number: -1.5,
    yes: true,
    none: null,
    list: [shared, shared],
    bare: Object.assign(Object.create(null), { a: 1 }),
  };
  expect(parseProps({ data })).toEqual({ data: { ...data, bare: { a: 1 } } });
});

const described = { name: "shout", description: "Shouts.", parameters: { type: "object" } };

test("a tool may be code with modules to import", () => {
  for (const tool of [
    { ...described, code: "return input" },
    { ...described, code: "x", modules: { "a.ts": "" } },
  ]) {
    expect(parseProps({ tools: [tool] })).toEqual({ tools: [tool] });
  }
});

const invalidTools: [string, object, (string | number)[]][] = [
  ["neither code nor a webhook", {}, []],
  ["code and a webhook", { code: "x", webhook: { url: "https://x.org" } }, []],
  ["empty code", { code: "" }, ["code"]],
  ["code that is not a string", { code: 5 }, []],
  ["modules that are not strings", { code: "x", modules: { "a.js": 5 } }, []],
  ["modules without a name", { code: "x", modules: { "": "" } }, []],
  [
    "more than 100 modules",
    { code: "x", modules: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`${index}.js`, ""])) },
    ["modules"],
  ],
  ["an input that is not an object", { code: "x", parameters: { type: "string" } }, ["parameters"]],
];

test.each(invalidTools)("a tool with %s is rejected with its path", (_, rest, path) => {
  expect(getError({ tools: [{ ...described, ...rest }] })).toMatchObject({
    details: { issues: [{ path: ["props", "tools", 0, ...path] }] },
  });
});

test("the size of props is limited, including code", () => {
  expect(getError({ tools: [{ ...described, code: " ".repeat(70_000) }] })).toMatchObject({
    details: { issues: [{ path: ["props"], message: expect.stringContaining("larger than") }] },
  });
});

function getError(value: unknown) {
  try {
    parseProps(value);
  } catch (error) {
    if (isThinkeryError(error)) return error;
    throw error;
  }
  throw new Error("The props were accepted.");
}

import { expect, test } from "vitest";
import { isThinkeryError } from "./errors.ts";
import { parseProps } from "./props.ts";

const loop: { inner: { self?: unknown } } = { inner: {} };
loop.inner.self = loop;

class Money {
  cents = 1;
}

const unwritable: [string, unknown, (string | number)[], string][] = [
  ["a function", { run: () => 1 }, ["run"], "is a function"],
  ["a symbol", { word: Symbol("x") }, ["word"], "is a symbol"],
  ["something under a symbol", { [Symbol("x")]: 1 }, ["Symbol(x)"], "is under a symbol"],
  ["a bigint", { list: [1, { big: 1n }] }, ["list", 1, "big"], "is a bigint"],
  ["NaN", { list: [0, Number.NaN] }, ["list", 1], "is NaN"],
  ["infinity", { far: -Infinity }, ["far"], "is -Infinity"],
  ["a date", { at: new Date(0) }, ["at"], "is a Date"],
  ["a map", { by: new Map() }, ["by"], "is a Map"],
  ["bytes", { raw: new Uint8Array(1) }, ["raw"], "is a Uint8Array"],
  ["an object of a class", { cost: new Money() }, ["cost"], "is a Money"],
  ["a part of itself", { loop }, ["loop", "inner", "self"], "is a part of itself"],
  [
    "something too deep",
    { deep: Array.from({ length: 100 }).reduce((inner) => [inner], 0) },
    ["deep", ...Array(62).fill(0)],
    "is more than 64 levels deep",
  ],
];

test.each(unwritable)("props with %s are refused by the path to it", (_, data, path, message) => {
  const refused = getRefusal({ data });
  expect(refused).toMatchObject({
    code: "bad_request",
    details: { problems: [{ path: ["props", "data", ...path], message }] },
  });
  expect(refused.message).toContain(`props.data.${path.join(".")} ${message}`);
});

test("undefined inside of a list or an object is refused by its path too, and as a key of its own is no key", () => {
  expect(getRefusal({ data: { list: [undefined] } })).toMatchObject({
    details: { problems: [{ path: ["props", "data", "list"] }] },
  });
  expect(getRefusal({ data: { a: { b: undefined } } })).toMatchObject({
    details: { problems: [{ path: ["props", "data", "a"] }] },
  });
  expect(parseProps({ additionalInstructions: undefined })).toEqual({});
});

test("what is not an object at all is refused", () => {
  for (const value of [null, 5, "x", [], () => 1])
    expect(getRefusal(value).details?.problems?.[0]?.path).toEqual(["props"]);
});

test("there is no key that takes anything away", () => {
  expect(getRefusal({ withoutTools: ["bash"] })).toMatchObject({
    details: { problems: [{ path: ["props", "withoutTools"], message: "unknown field" }] },
  });
  expect(getRefusal({ tools: { bash: null } })).toMatchObject({
    details: { problems: [{ path: ["props", "tools"] }] },
  });
});

test("plain data comes back as it is, the same thing twice included", () => {
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

test("a tool may be code, with modules that it imports", () => {
  for (const tool of [
    { ...described, code: "return input" },
    { ...described, code: "x", modules: { "a.ts": "" } },
  ]) {
    expect(parseProps({ tools: [tool] })).toEqual({ tools: [tool] });
  }
});

const notCode: [string, object, (string | number)[]][] = [
  ["no code and no address", {}, []],
  ["code and an address", { code: "x", webhook: { url: "https://x.org" } }, []],
  ["empty code", { code: "" }, ["code"]],
  ["code that is no text", { code: 5 }, []],
  ["modules that are no text", { code: "x", modules: { "a.js": 5 } }, []],
  ["modules without a name", { code: "x", modules: { "": "" } }, []],
  [
    "more modules than anybody needs",
    { code: "x", modules: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`${index}.js`, ""])) },
    ["modules"],
  ],
  ["an input that is no object", { code: "x", parameters: { type: "string" } }, ["parameters"]],
];

test.each(notCode)("a tool with %s is refused by its path", (_, more, path) => {
  expect(getRefusal({ tools: [{ ...described, ...more }] })).toMatchObject({
    details: { problems: [{ path: ["props", "tools", 0, ...path] }] },
  });
});

test("all that props hold has one limit, code included", () => {
  expect(getRefusal({ tools: [{ ...described, code: " ".repeat(70_000) }] })).toMatchObject({
    details: { problems: [{ path: ["props"], message: expect.stringContaining("larger than") }] },
  });
});

function getRefusal(value: unknown) {
  try {
    parseProps(value);
  } catch (error) {
    if (isThinkeryError(error)) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}

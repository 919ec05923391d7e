import { describe, expect, test } from "vitest";
import { inspect } from "./inspect.ts";
import { describe as describeError } from "./trace.ts";
import { ValueTooLongError, formatValue } from "./value.ts";

const options = { describe: (error: Error) => describeError(error).split("\n")[0] ?? "" };
const show = (value: unknown) => inspect(value, options);

class Point {
  x = 1;
  #hidden = 2;
  get sum() {
    return this.x + this.#hidden;
  }
}
class Empty {
  m() {}
}
const sparse = Object.assign([], { 1: 1, 4: 2 });
const huge: unknown[] = [];
huge.length = 1e9;
class Names extends Map<number, number> {}

const circular: Record<string, unknown> = { a: [] };
circular.a = [circular];

const kinds: [unknown, string][] = [
  [undefined, "undefined"],
  [null, "null"],
  [true, "true"],
  [1.5, "1.5"],
  [-0, "-0"],
  [NaN, "NaN"],
  [10n, "10n"],
  [Symbol("s"), "Symbol(s)"],
  ["it's", `"it's"`],
  ["a\n\t\\\u0001", String.raw`'a\n\t\\\x01'`],
  [[], "[]"],
  [{}, "{}"],
  [[1, "a", [2]], "[ 1, 'a', [ 2 ] ]"],
  [{ a: 1, "b c": { d: undefined } }, "{ a: 1, 'b c': { d: undefined } }"],
  [{ [Symbol("k")]: 1 }, "{ [Symbol(k)]: 1 }"],
  [Object.create(null), "[Object: null prototype] {}"],
  [sparse, "[ <1 empty item>, 1, <2 empty items>, 2 ]"],
  [huge, "[ <1000000000 empty items> ]"],
  [Object.assign([1], { extra: true }), "[ 1, extra: true ]"],
  [new Point(), "Point { x: 1 }"],
  [new Empty(), "Empty {}"],
  [new Map<unknown, unknown>([["a", { b: 1 }]]), "Map(1) { 'a' => { b: 1 } }"],
  [new Names([[1, 2]]), "Names(1) { 1 => 2 }"],
  [new Set([1, "a"]), "Set(2) { 1, 'a' }"],
  [new Date(0), "1970-01-01T00:00:00.000Z"],
  [new Date(NaN), "Invalid Date"],
  [/a\/b/gi, "/a\\/b/gi"],
  [new Uint8Array([1, 2]), "Uint8Array(2) [ 1, 2 ]"],
  [new ArrayBuffer(3), "ArrayBuffer { byteLength: 3 }"],
  [new Number(3), "[Number: 3]"],
  [new String("x"), '[String: "x"]'],
  [() => 1, "[Function (anonymous)]"],
  [function named() {}, "[Function: named]"],
  [async () => {}, "[AsyncFunction (anonymous)]"],
  [Object.assign(function f() {}, { a: 1 }), "[Function: f] { a: 1 }"],
  [Point, "[class Point]"],
  [Promise.resolve(1), "Promise { <not awaited> }"],
  [new WeakMap(), "WeakMap { <items unknown> }"],
  [Math, "Object [Math] {}"],
  [new URL("https://a.b/c"), "URL { href: 'https://a.b/c' }"],
  [new Headers({ a: "b" }), "Headers { 'a' => 'b' }"],
  [new TypeError("no"), "TypeError: no"],
  [Object.assign(new Error("no"), { code: 7 }), "Error: no { code: 7 }"],
  [circular, "{ a: [ [Circular] ] }"],
  [{ a: { b: { c: { d: { e: { f: 1 } } } } } }, "{ a: { b: { c: { d: { e: [Object] } } } } }"],
  [
    {
      get a() {
        throw new Error("run");
      },
      set b(_: unknown) {},
      get c() {
        return 1;
      },
      set c(_) {},
    },
    "{ a: [Getter], b: [Setter], c: [Getter/Setter] }",
  ],
  [Object.create(Map.prototype), "Map {}"],
  [Object.create(Date.prototype), "Date {}"],
];

describe("every kind of value is formatted", () => {
  test.each(kinds)("%#", (value, shown) => {
    expect(show(value)).toBe(shown);
  });

  test("values that do not fit on a line are broken into several", () => {
    const wide = { first: "x".repeat(40), second: { third: ["y".repeat(40), "z".repeat(40)] } };
    expect(show(wide)).toBe(`{
  first: '${"x".repeat(40)}',
  second: {
    third: [
      '${"y".repeat(40)}',
      '${"z".repeat(40)}'
    ]
  }
}`);
    const numbers = show(Array.from({ length: 150 }, (_, index) => index)).split("\n");
    expect(numbers.length).toBeLessThan(12);
    expect(numbers.at(-2)).toContain("... 50 more items");
  });
});

describe("large values are abbreviated", () => {
  test.each<[string, unknown]>([
    ["a long string", { s: "x".repeat(1e6) }],
    ["a long list of long strings", Array.from({ length: 1000 }, () => "y".repeat(9000))],
    [
      "a wide tree",
      Array.from({ length: 99 }, () =>
        Array.from({ length: 99 }, () => Array.from({ length: 99 }, () => ({ a: "some text", b: 1 }))),
      ),
    ],
    ["many keys", Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`key${index}`, index]))],
    ["a big map", new Map(Array.from({ length: 200_000 }, (_, index) => [index, index]))],
    ["many bytes", new Uint8Array(50_000_000)],
  ])("%s", (_, value) => {
    const shown = show(value);
    expect(shown.length).toBeLessThan(400_000);
    expect(shown).toMatch(/\.\.\. \d+ more (item|propert|character)/);
  });

  test("the number of omitted entries is correct", () => {
    expect(show(new Set(Array.from({ length: 101 }, (_, index) => index)))).toContain("... 1 more item\n");
    expect(show(Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`k${index}`, index])))).toContain(
      "... 50 more properties\n",
    );
  });
});

describe("objects that throw when inspected", () => {
  const hostile = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error("mine");
      },
    },
  );

  test("are named in a console, and throw as a return value", () => {
    expect(show([1, hostile])).toBe("[ 1, [object that cannot be inspected] ]");
    expect(() => formatValue({ hostile }, options)).toThrow("mine");
    expect(() => formatValue(new Map([[1, hostile]]), options)).toThrow("mine");
  });

  test("are read only once", () => {
    let reads = 0;
    const changing = new Proxy([1, 2], { get: (list, key) => (key === "0" ? ++reads : Reflect.get(list, key)) });
    expect(formatValue(changing, options)).toBe("[1,2]");
    expect(reads).toBe(1);
  });
});

describe("return values", () => {
  test.each<[unknown, string | undefined]>([
    [undefined, undefined],
    [null, "null"],
    [0, "0"],
    ["text", "text"],
    ["", ""],
    [{ a: [1, { b: "ü" }], c: null }, '{"a":[1,{"b":"ü"}],"c":null}'],
    [{ a: undefined, b: 1 }, '{"b":1}'],
    [[undefined], "[ undefined ]"],
    [Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    [JSON.parse('{"__proto__": 1}'), '{"__proto__":1}'],
    [NaN, "NaN"],
    [[1, NaN], "[ 1, NaN ]"],
    [1n, "1n"],
    [{ at: new Date(0) }, "{ at: 1970-01-01T00:00:00.000Z }"],
    [new Map([[1, 2]]), "Map(1) { 1 => 2 }"],
    [new Point(), "Point { x: 1 }"],
    [
      {
        get a() {
          return 1;
        },
        b: 2,
      },
      "{ a: [Getter], b: 2 }",
    ],
    [{ [Symbol("k")]: 1 }, "{ [Symbol(k)]: 1 }"],
    [{ toJSON: () => "lie" }, "{ toJSON: [Function: toJSON] }"],
    [circular, "{ a: [ [Circular] ] }"],
    ["abc".match(/b/), '["b"]'],
    ["\ud800", "\ufffd"],
  ])("%#", (value, text) => {
    expect(formatValue(value, options)).toBe(text);
  });

  test("deeply nested values are shown to a limited depth", () => {
    let deep: unknown = [];
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(formatValue(deep, options)).toBe("[ [ [ [ [ [ [ [Array] ] ] ] ] ] ] ]");
  });

  test("a value that is too long is refused with its length", () => {
    expect(() => formatValue("x".repeat(11_000_000), options)).toThrow(
      new ValueTooLongError(
        "The returned value has 11000000 characters; the limit is 10485760. Return only what is needed, or store the rest with a tool.",
      ),
    );
    // The same small value repeated: small in memory, enormous as text.
    let laughs: unknown[] = ["ha".repeat(10_000)];
    for (let turn = 0; turn < 40; turn++) laughs = [laughs, laughs];
    expect(() => formatValue(laughs, options)).toThrow("more than 10485760 characters");
  });
});

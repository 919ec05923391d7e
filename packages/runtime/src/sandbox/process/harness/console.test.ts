import { describe, expect, test } from "vitest";
import { BoundedText } from "./bounded-text.ts";
import { createTextConsole } from "./console.ts";
import { describe as describeError } from "./trace.ts";

function recordConsole(use: (console: Console) => void): string {
  let text = "";
  use(createTextConsole((more) => (text += more), { describe: (error) => describeError(error).split("\n")[0] ?? "" }));
  return text;
}

describe("a console formats values for people", () => {
  test.each<[string, (console: Console) => void, string]>([
    [
      "strings as they are, other values inspected",
      (c) => c.log("a", 1, ["b"], { c: "d" }, null, undefined),
      "a 1 [ 'b' ] { c: 'd' } null undefined\n",
    ],
    ["no arguments as an empty line", (c) => c.log(), "\n"],
    [
      "all levels, in order",
      (c) => (c.error("1"), c.warn("2"), c.info("3"), c.debug("4"), c.log("5")),
      "1\n2\n3\n4\n5\n",
    ],
    [
      "placeholders",
      (c) => c.log("%s %d %i %f %j %o %O%c %%", "s", "4.5", "4.5px", "1.5", { a: 1 }, [1], { b: 2 }, "color: red"),
      's 4.5 4 1.5 {"a":1} [ 1 ] { b: 2 } %\n',
    ],
    ["placeholders without a value", (c) => c.log("%s and %s", "a"), "a and %s\n"],
    ["values without a placeholder", (c) => c.log("100%", "b", 2n), "100% b 2n\n"],
    ["a number placeholder for a value that is not a number", (c) => c.log("%d %d", {}, Symbol("x")), "NaN NaN\n"],
    [
      "groups",
      (c) => (c.group("g"), c.log("a\nb"), c.group(), c.log("c"), c.groupEnd(), c.groupEnd(), c.groupEnd(), c.log("d")),
      "g\n  a\n  b\n    c\nd\n",
    ],
    [
      "counts",
      (c) => (c.count(), c.count(), c.count("x"), c.countReset(), c.count()),
      "default: 1\ndefault: 2\nx: 1\ndefault: 1\n",
    ],
    [
      "assertions",
      (c) => (c.assert(true, "no"), c.assert(false), c.assert(0, "is %s", "zero")),
      "Assertion failed\nAssertion failed: is zero\n",
    ],
    ["a timer that was never started", (c) => c.timeEnd("t"), "There is no timer “t”.\n"],
    ["dir shows strings as strings", (c) => c.dir("a"), "'a'\n"],
    ["errors", (c) => c.log(new RangeError("far"), [new Error("in")]), "RangeError: far [ Error: in ]\n"],
    ["tables", (c) => c.table([{ a: 1, b: "x" }, { a: 22 }]), "  | a  | b\n--|----|----\n0 | 1  | 'x'\n1 | 22 |\n"],
    ["tables of values", (c) => c.table(["x", { a: 1 }]), "  | a | value\n--|---|------\n0 |   | 'x'\n1 | 1 |\n"],
    ["tables of chosen columns", (c) => c.table({ r: { a: 1, b: 2 } }, ["b"]), "  | b\n--|--\nr | 2\n"],
    ["a table of a value that is not tabular", (c) => c.table(5), "5\n"],
  ])("%s", (_, use, text) => {
    expect(recordConsole(use)).toBe(text);
  });

  test("a timer reports the elapsed time", () => {
    expect(recordConsole((c) => (c.time("t"), c.timeLog("t", "so far"), c.timeEnd("t")))).toMatch(
      /^t: \d+ms so far\nt: \d+ms\n$/,
    );
  });

  test("methods work when detached from the console", () => {
    expect(recordConsole(({ log }) => [1, 2].forEach((n) => log(n)))).toBe("1\n2\n");
  });
});

describe("long text keeps its beginning and end", () => {
  test("and counts the omitted characters", () => {
    const bounded = new BoundedText(20);
    for (let n = 0; n < 100; n++) bounded.add(`${n}`.padStart(3, "0"));
    expect(bounded.text).toBe("0000010020\n… 280 characters omitted …\n6097098099");
  });

  test.each([1, 3, 19, 20])("in pieces of %i characters, nothing is omitted up to the limit", (size) => {
    const text = "abcdefghijklmnopqrst";
    const bounded = new BoundedText(20);
    for (let at = 0; at < 20; at += size) bounded.add(text.slice(at, at + size));
    expect(bounded.text).toBe(text);
    bounded.add("u");
    expect(bounded.text).toBe("abcdefghij\n… 1 character omitted …\nlmnopqrstu");
  });

  test("one huge piece is treated like many small ones", () => {
    const bounded = new BoundedText(20);
    bounded.add(`${"a".repeat(10)}${"b".repeat(1000)}${"c".repeat(10)}`);
    expect(bounded.text).toBe(`${"a".repeat(10)}\n… 1000 characters omitted …\n${"c".repeat(10)}`);
  });

  test("surrogate pairs are not left broken at a cut", () => {
    const bounded = new BoundedText(6);
    bounded.add("ab😀😀😀😀yz");
    expect(bounded.text.isWellFormed()).toBe(true);
  });
});

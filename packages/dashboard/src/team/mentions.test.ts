import { expect, test } from "vitest";
import { completeMention, findCandidates, findMentionStart, splitMentions } from "./mentions.ts";

const names = new Set(["bob", "code-reviewer", "j.d", "j", "x_1"]);
const listNames = (text: string) =>
  splitMentions(text, names).flatMap(({ name }) => (name === undefined ? [] : [name]));

test("mentions are found by the real names, with hyphens and dots, in any case", () => {
  expect(listNames("@bob and @code-reviewer, @j.d: @X_1!")).toEqual(["bob", "code-reviewer", "j.d", "x_1"]);
  expect(listNames("Ask @bob. Then @j.d.")).toEqual(["bob", "j.d"]);
  expect(listNames("(@bob) @bob/@j @bob’s")).toEqual(["bob", "bob", "bob"]);
});

test("addresses, doubled signs, longer names and unknown ones are no mentions", () => {
  expect(listNames("mail@bob, a.@bob, @@bob, x/@bob, @bobby, @nobody @ bob @-bob @bob.then @bob-by @bob@x")).toEqual(
    [],
  );
  expect(listNames(`@${"a.".repeat(20_000)}`)).toEqual([]);
});

test("the pieces are the whole text", () => {
  for (const text of ["", "@bob", "x @bob", "@bob, then y", "@bob @j.d z", "no"]) {
    expect(
      splitMentions(text, names)
        .map((piece) => piece.text)
        .join(""),
    ).toBe(text);
  }
});

test("a mention is completed where the caret is", () => {
  const text = "Hi @co, please";
  const start = findMentionStart(text, 6);
  expect(start).toEqual({ from: 3, query: "co" });
  expect(start && completeMention(text, 6, start, "code-reviewer")).toEqual({
    text: "Hi @code-reviewer , please",
    caret: 18,
  });
  expect(start && completeMention("Hi @co please", 6, start, "bob")).toEqual({ text: "Hi @bob please", caret: 7 });
  expect(findMentionStart("Hi @", 4)).toEqual({ from: 3, query: "" });
  for (const other of ["Hi", "a@b", "@bob ", "@@b"]) expect(findMentionStart(other, other.length)).toBeUndefined();
});

test("candidates that begin with what was typed come first", () => {
  expect(findCandidates(["abel", "bob", "rob"], "B")).toEqual(["bob", "abel", "rob"]);
  expect(findCandidates(["abel", "bob"], "")).toEqual(["abel", "bob"]);
  expect(findCandidates(["a1", "a2", "a3"], "a", 2)).toEqual(["a1", "a2"]);
});

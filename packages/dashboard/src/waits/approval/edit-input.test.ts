import { expect, test } from "vitest";
import {
  changeField,
  createInputDraft,
  type InputDraft,
  readInputDraft,
  toFieldsDraft,
  toJsonDraft,
} from "./edit-input.ts";

const readInput = (draft: InputDraft) => {
  const result = readInputDraft(draft);
  return "input" in result ? result.input : result;
};

test("any input is the same after it was opened for editing, as fields and as JSON", () => {
  const inputs = [
    { path: "a.md", content: "one\ntwo\n", limit: -0.5, all: false, edits: [{ a: null }], nothing: null },
    JSON.parse('{"__proto__":{"a":1},"constructor":"b"}') as object,
    {},
    [],
    "text",
    7,
    null,
    Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`p${index}`, index])),
  ];
  for (const input of inputs) {
    for (const draft of [createInputDraft(input), toJsonDraft(input)]) {
      expect(JSON.stringify(readInput(draft))).toBe(JSON.stringify(input));
    }
  }
});

test("objects of a few properties are edited as fields, everything else as JSON", () => {
  expect(createInputDraft({ a: 1, b: true, c: "x", d: [] })).toMatchObject({
    mode: "fields",
    fields: [{ kind: "number" }, { kind: "flag" }, { kind: "text" }, { kind: "json" }],
  });
  for (const input of [{}, [], "a", null, undefined]) expect(toFieldsDraft(input)).toBeUndefined();
});

test("a field that is wrong is named", () => {
  const draft = createInputDraft({ count: 1, list: [1], text: "" });
  expect(readInputDraft(changeField(draft, "count", "many"))).toEqual({
    field: "count",
    issue: "This is not a number.",
  });
  expect(readInputDraft(changeField(draft, "count", " "))).toMatchObject({ field: "count" });
  expect(readInputDraft(changeField(draft, "list", "[1"))).toMatchObject({ field: "list" });
  expect(readInput(changeField(draft, "text", "y"))).toEqual({ count: 1, list: [1], text: "y" });
  expect(readInputDraft({ mode: "json", text: "{" })).toEqual({ issue: expect.stringMatching(/^This is not JSON: /) });
});

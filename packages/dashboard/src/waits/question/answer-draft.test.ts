import { expect, test } from "vitest";
import { changeDraft, createDraft, readDraft } from "./answer-draft.ts";
import { parseAnswerIssues } from "./answer-errors.ts";
import { parseSchema } from "./parse-schema.ts";

const group = parseSchema({
  type: "object",
  required: ["age", "ok", "owner", "tags"],
  properties: {
    age: { type: "integer" },
    ok: { type: "boolean" },
    level: { enum: [1, 2] },
    note: { type: "string" },
    tags: { type: "array", items: { enum: ["a", "b"] } },
    owner: { type: "object", required: ["mail"], properties: { mail: { type: "string" } } },
    other: { type: "object", properties: { x: { type: "string" } } },
  },
});

test("what is needed and missing is named by its path; optional fields may be empty", () => {
  expect(readDraft(group, createDraft(group))).toEqual({
    issues: { age: "This is needed.", ok: "Choose one.", "owner.mail": "This is needed." },
  });
});

test("an answer has values of the right types, and nothing for empty optional fields", () => {
  let draft = createDraft(group);
  const entered = { age: "41", ok: "false", level: "1", tags: [1, 0], owner: { mail: "a@b" } };
  for (const [name, value] of Object.entries(entered)) draft = changeDraft(draft, name, value);
  expect(readDraft(group, draft)).toEqual({
    value: { age: 41, ok: false, level: 2, tags: ["a", "b"], owner: { mail: "a@b" } },
  });
  expect(readDraft(group, changeDraft(draft, "age", "4.5"))).toEqual({
    issues: { age: "This is not a whole number." },
  });
});

test("an answer that is not an object is read as it is", () => {
  const read = (schema: object, draft: string) => readDraft(parseSchema(schema), draft);
  expect(read({ type: "string" }, " a\n")).toEqual({ value: " a\n" });
  expect(read({ type: "number" }, " 1e3 ")).toEqual({ value: 1000 });
  expect(read({ type: "number" }, "x")).toEqual({ issues: { "": "This is not a number." } });
  expect(read({ enum: ["a", 7] }, "1")).toEqual({ value: 7 });
  expect(read({}, "[1]")).toEqual({ value: [1] });
  expect(read({}, "[1")).toEqual({ issues: { "": expect.stringMatching(/^This is not JSON/) } });
});

test("the host's message is shown at the fields it names", () => {
  const isField = (path: string) => path === "age" || path === "owner.mail";
  const message = "Invalid `value`: value.age: Too big; value.owner.mail: Too small: 5; value.tags.0: Invalid; more";
  expect(parseAnswerIssues(message, isField)).toEqual({
    age: "Too big",
    "owner.mail": "Too small: 5",
    "": "tags.0: Invalid; more",
  });
  expect(parseAnswerIssues("Invalid `value`: value: Expected string", isField)).toEqual({ "": "Expected string" });
  expect(parseAnswerIssues("Invalid `value`: Expected text.", isField)).toEqual({ "": "Expected text." });
  expect(parseAnswerIssues("The agent has no open question.", isField)).toBeUndefined();
});

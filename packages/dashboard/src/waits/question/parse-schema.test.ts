import { expect, test } from "vitest";
import { createDraft, readDraft } from "./answer-draft.ts";
import { listPaths, parseSchema } from "./parse-schema.ts";

test("each kind of value has its control, and everything else is JSON", () => {
  const kinds: [unknown, string][] = [
    [{ type: "string" }, "text"],
    [{ type: "number" }, "number"],
    [{ type: "integer", minimum: 1 }, "number"],
    [{ type: "boolean" }, "flag"],
    [{ enum: ["a", 1, true] }, "choice"],
    [{ oneOf: [{ const: "a", title: "First" }, { const: "b" }] }, "choice"],
    [{ type: "array", items: { enum: ["a"] } }, "choices"],
    [{ type: "object", properties: { a: { type: "string" } } }, "group"],
    [{ enum: [] }, "json"],
    [{ enum: [{}] }, "json"],
    [{ enum: Array.from({ length: 1000 }, (_, index) => index) }, "json"],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, "json"],
    [{ type: "array", items: { type: "string" } }, "json"],
    [{ type: "array" }, "json"],
    [{ type: "object" }, "json"],
    [{ type: "object", properties: { a: {} }, additionalProperties: { type: "string" } }, "json"],
    [{ type: "object", properties: [] }, "json"],
    [{ type: ["string", "null"] }, "json"],
    [{ $ref: "#" }, "json"],
    [{}, "json"],
    [null, "json"],
    [JSON.parse('{"__proto__":{"type":"string"}}'), "json"],
  ];
  for (const [schema, kind] of kinds) expect(parseSchema(schema).kind, JSON.stringify(schema)).toBe(kind);
});

test("a text is long if it is the whole answer or may be long", () => {
  const isLong = (schema: object) => {
    const control = parseSchema(schema);
    return control.kind === "text" && control.long;
  };
  expect(
    [{}, { maxLength: 20 }, { maxLength: 2000 }, { format: "email" }].map((part) =>
      isLong({ type: "string", ...part }),
    ),
  ).toEqual([true, false, true, false]);
});

test("objects are nested one level deep; below that they are JSON", () => {
  const nest = (inner: object) => ({ type: "object", properties: { a: inner } });
  const control = parseSchema(nest(nest(nest({ type: "string" }))));
  expect(control).toMatchObject({
    kind: "group",
    fields: [{ control: { kind: "group", fields: [{ control: { kind: "json" } }] } }],
  });
  expect([...listPaths(control)]).toEqual(["", "a", "a.a"]);
});

test("labels, hints, required fields and initial values come from the schema", () => {
  const control = parseSchema({
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string", title: "Name", description: "Yours", default: "Ada" },
      size: { enum: ["S", "M"], default: "M" },
      tags: { type: "array", items: { enum: ["x", "y"] }, default: ["y"] },
      extra: { default: { a: 1 } },
    },
  });
  expect(control).toMatchObject({
    fields: [{ label: "Name", hint: "Yours", required: true }, { label: "size", required: false }, {}, {}],
  });
  expect(readDraft(control, createDraft(control))).toEqual({
    value: { name: "Ada", size: "M", tags: ["y"], extra: { a: 1 } },
  });
});

import { expect, test } from "vitest";
import { parseProps } from "./props.ts";
import { countSchemaNodes } from "./schema-size.ts";

/** Each definition refers to the next one twice. */
function createDoublingSchema(levels: number) {
  const definitions = Array.from({ length: levels }, (_, level) => [
    `d${level}`,
    level === levels - 1
      ? { type: "string" }
      : { allOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] },
  ]);
  return { type: "object", properties: { a: { $ref: "#/$defs/d0" } }, $defs: Object.fromEntries(definitions) };
}

const createTool = (parameters: object) => ({
  tools: [{ name: "t", description: "d", parameters, webhook: { url: "https://example.com/" } }],
});

test("references count as often as they are followed", () => {
  expect(countSchemaNodes({ type: "object" })).toBe(1);
  expect(countSchemaNodes({ type: "object", properties: { a: { type: "string" } } })).toBe(3);
  const once = countSchemaNodes(createDoublingSchema(1)) ?? 0;
  expect(countSchemaNodes(createDoublingSchema(2))).toBeGreaterThan(2 * once - 6);
  expect(countSchemaNodes(createDoublingSchema(40))).toBeGreaterThan(2 ** 39);
});

test("recursive references, and those that lead nowhere, have no size", () => {
  expect(countSchemaNodes({ type: "object", properties: { child: { $ref: "#" } } })).toBeUndefined();
  expect(countSchemaNodes({ anyOf: [{ $ref: "#/$defs/a" }], $defs: { a: { $ref: "#/$defs/a" } } })).toBeUndefined();
  expect(countSchemaNodes({ $ref: "#/$defs/missing" })).toBeUndefined();
  expect(countSchemaNodes({ $ref: "https://example.com/schema" })).toBeUndefined();
  // A property may be called $ref.
  expect(countSchemaNodes({ properties: { $ref: { type: "string" } } })).toBe(3);
});

test("props reject a schema that would take forever to check, and accept an ordinary one", () => {
  const ordinary = {
    type: "object",
    properties: { at: { $ref: "#/$defs/date" } },
    $defs: { date: { type: "string" } },
  };
  expect(() => parseProps(createTool(ordinary))).not.toThrow();
  for (const schema of [createDoublingSchema(40), { type: "object", properties: { child: { $ref: "#" } } }])
    expect(() => parseProps(createTool(schema))).toThrow(/5000 nodes/);
});

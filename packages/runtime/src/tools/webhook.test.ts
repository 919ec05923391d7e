import { expect, test } from "vitest";
import { webhookTool } from "./webhook.ts";

const at = (parameters: Record<string, unknown>) =>
  webhookTool({ name: "hook", description: "Calls.", parameters: parameters as never, webhook: { url: "https://example.com" } }, fetch);

test("a pattern that would match for ever is told to the model, and not tried here", () => {
  const parameters = { type: "object", properties: { word: { type: "string", pattern: "^(a+)+$" }, pattern: { type: "string" } }, required: ["word", "pattern"] };
  const tool = at(parameters);
  expect(tool.parameters).toEqual(parameters);
  expect(tool.inputSchema.safeParse({ word: `${"a".repeat(50)}!`, pattern: "x" }).success).toBe(true);
  expect(tool.inputSchema.safeParse({ word: "a" }).success).toBe(false);
});

test("a schema that cannot be read is refused when the tool is made", () => {
  expect(() => at({ type: "nonsense" })).toThrow("nonsense");
});

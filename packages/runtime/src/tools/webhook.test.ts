import { expect, test } from "vitest";
import { createWebhookTool } from "./webhook.ts";

const createTool = (parameters: Record<string, unknown>) =>
  createWebhookTool(
    { name: "hook", description: "Calls.", parameters: parameters as never, webhook: { url: "https://example.com" } },
    fetch,
  );

test("the model gets the original schema, but patterns are not matched here", () => {
  const parameters = {
    type: "object",
    properties: { word: { type: "string", pattern: "^(a+)+$" }, pattern: { type: "string" } },
    required: ["word", "pattern"],
  };
  const tool = createTool(parameters);
  expect(tool.parameters).toEqual(parameters);
  expect(tool.inputSchema.safeParse({ word: `${"a".repeat(50)}!`, pattern: "x" }).success).toBe(true);
  expect(tool.inputSchema.safeParse({ word: "a" }).success).toBe(false);
});

test("an invalid schema is rejected when the tool is created", () => {
  expect(() => createTool({ type: "nonsense" })).toThrow("nonsense");
});

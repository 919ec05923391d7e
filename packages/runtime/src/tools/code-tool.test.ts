import { type Code, type ToolContext, ToolError } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { createCodeTool } from "./code-tool.ts";

const parameters = {
  type: "object",
  properties: { word: { type: "string", pattern: "^(a+)+$" } },
  required: ["word"],
} as const;
const tool = createCodeTool({
  name: "shout",
  description: "Shouts.",
  parameters: parameters as never,
  code: "return input.word",
  modules: { "a.js": "x" },
});

function run(input: unknown, value: string | undefined): unknown {
  const runs: Code[] = [];
  const sandbox = {
    run: async (code: Code) => (
      runs.push(code),
      { console: "Noise.", ms: 1, ...(value === undefined ? {} : { value }) }
    ),
  };
  const result = tool.execute(input, { sandbox } as unknown as ToolContext);
  expect(runs).toEqual([{ code: "return input.word", modules: { "a.js": "x" }, input }]);
  return result;
}

const values: [string, string | undefined, unknown][] = [
  ["an object", '{"a":[1,null]}', { a: [1, null] }],
  ["a number", "5", 5],
  ["a text", "Hello.", "Hello."],
  ["an empty text", "", ""],
  ["a text with a number that is not representable", "12345678901234567890", "12345678901234567890"],
  ["JSON with other formatting", '{ "a": 1.0 }', '{ "a": 1.0 }'],
  ["nothing", undefined, undefined],
  // As a value it would mean that there is no output.
  ["null", "null", "null"],
];

test.each(values)("code that returns %s yields it as the result", async (_, value, result) => {
  expect(await run({ word: "x" }, value)).toEqual(result);
});

test("code tools use the sandbox's limits, are only for the model, and pass errors on", async () => {
  expect(tool).toMatchObject({
    modelOnly: true,
    idempotent: false,
    parallel: false,
    timeoutSeconds: expect.any(Number),
  });
  const sandbox = { run: () => Promise.reject(new ToolError("syntax", "SyntaxError: Unexpected token (code:1:1)")) };
  await expect(tool.execute({}, { sandbox } as unknown as ToolContext)).rejects.toMatchObject({ code: "syntax" });
});

test("the model gets the original schema, but patterns are not matched here", () => {
  expect(tool.parameters).toEqual(parameters);
  expect(tool.inputSchema.safeParse({ word: `${"a".repeat(50)}!` }).success).toBe(true);
  expect(tool.inputSchema.safeParse({}).success).toBe(false);
});

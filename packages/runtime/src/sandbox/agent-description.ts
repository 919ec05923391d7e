import { settingsSchemaSchema, toolNameRule } from "@thinkery/sdk";
import { type AgentDescription, maxStateBytes } from "@thinkery/sdk/agent-host";
import { countSchemaNodes } from "@thinkery/sdk/internal";
import { z } from "zod";

const maxTools = 32;
const maxParameterChars = 20_000;

const parametersSchema = z
  .record(z.string(), z.unknown())
  .refine(({ type }) => type === "object", { error: 'expected a JSON schema of an object: { "type": "object", … }' })
  .refine((schema) => JSON.stringify(schema).length <= maxParameterChars, {
    error: `more than ${maxParameterChars} characters of JSON schema`,
    abort: true,
  })
  .refine((schema) => countSchemaNodes(schema) !== undefined, { error: "a recursive or too large JSON schema" });

/** What the code of an agent says about itself. It comes from a sandbox, so it is checked. */
const descriptionSchema = z.object({
  settings: settingsSchemaSchema.optional(),
  tools: z
    .array(
      z.object({
        // With the agent's name before it, it must still be a valid name.
        name: z.string().max(40).regex(toolNameRule.pattern, toolNameRule.form),
        description: z.string().min(1).max(2000),
        parameters: parametersSchema,
      }),
    )
    .max(maxTools)
    .refine((tools) => new Set(tools.map(({ name }) => name)).size === tools.length, { error: "names a tool twice" }),
  handles: z.object({ init: z.boolean(), shutdown: z.boolean(), event: z.boolean() }),
  history: z.object({
    maxMessages: z.int().min(0).max(1000).optional(),
    maxChars: z.int().min(0).max(2_000_000).optional(),
  }),
  batch: z.boolean(),
  concurrency: z.int().min(1).max(16),
  initialState: z
    .record(z.string(), z.unknown())
    .refine((state) => JSON.stringify(state).length <= maxStateBytes, { error: `more than ${maxStateBytes} bytes` }),
});

export type CodeDescription = z.infer<typeof descriptionSchema>;

null as unknown as CodeDescription satisfies Omit<AgentDescription, "settings" | "initialState">;

/** Parses the body of a response to `describe`. Throws a `ZodError` if the agent is not defined as it should be. */
export function parseDescription(body: string): CodeDescription {
  return descriptionSchema.parse(JSON.parse(body));
}

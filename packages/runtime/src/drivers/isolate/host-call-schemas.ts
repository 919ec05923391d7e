import { logLevels, reasoningEfforts, toolNameRule } from "@thinkery/sdk";
import type { HostCallName, HostCalls, JsonValue } from "@thinkery/sdk/agent-host";
import { z } from "zod";

// What an agent's code may send. It comes from a sandbox, so everything is checked and bounded.

const maxKeyChars = 512;
const maxValueChars = 1024 * 1024;
const maxTextChars = 1_000_000;

const id = z.string().min(1).max(200);
const toolName = z.string().min(1).max(100);
const key = z.string().min(1).max(maxKeyChars);
/** What `JSON.parse` returned, so that only its presence is checked: values may have millions of parts. */
export const jsonValueSchema = z.custom<JsonValue>((value) => value !== undefined, "expected a value");
/** Deeper JSON is refused before it is parsed, because whatever is done with it recurses. */
export const maxJsonDepth = 1000;

const operationSchema = z.discriminatedUnion("type", [
  z.object({ reply: z.int().min(0), type: z.literal("write"), text: z.string() }),
  z.object({ reply: z.int().min(0), type: z.literal("thinking"), text: z.string() }),
  z.object({ reply: z.int().min(0), type: z.literal("action"), tool: z.string().max(200), args: jsonValueSchema }),
  z.object({ reply: z.int().min(0), type: z.literal("actionComplete") }),
  z.object({ reply: z.int().min(0), type: z.literal("end") }),
]);

const userPartSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), attachment: id }),
]);

const toolCallSchema = z.object({ id: z.string().max(200), name: toolName, input: jsonValueSchema });

const messageSchema = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), content: z.union([z.string(), z.array(userPartSchema).max(100)]) }),
  z.object({
    role: z.literal("assistant"),
    content: z.string(),
    toolCalls: z.array(toolCallSchema).max(128).optional(),
    replayId: z.string().max(100).optional(),
  }),
  z.object({
    role: z.literal("tool"),
    callId: z.string().max(200),
    name: toolName,
    content: z.string(),
    isError: z.boolean().optional(),
  }),
]);

const modelRequestSchema = z.object({
  model: z.string().min(1).max(200).optional(),
  system: z.string().max(maxTextChars).optional(),
  messages: z.array(messageSchema).min(1, "expected at least one message").max(5000),
  tools: z
    .array(
      z.object({
        name: z.string().regex(toolNameRule.pattern, toolNameRule.form),
        description: z.string().max(10_000),
        parameters: z.record(z.string(), z.unknown()),
      }),
    )
    .max(256)
    .optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxOutputTokens: z.int().min(1).max(1_000_000).optional(),
  thinkingBudget: z.int().min(0).max(1_000_000).optional(),
  reasoningEffort: z.enum(reasoningEfforts).optional(),
});

export type ModelRequestInput = z.infer<typeof modelRequestSchema>;

/** Schemas of inputs by call. */
export const hostCallSchemas = {
  reply: z.object({ operations: z.array(operationSchema).max(1000) }),
  "model.open": modelRequestSchema,
  "model.read": z.object({ id }),
  "model.close": z.object({ id }),
  "tools.execute": z.object({
    calls: z
      .array(z.object({ id: z.string().max(200).optional(), name: toolName, input: jsonValueSchema }))
      .min(1)
      .max(128),
  }),
  "history.read": z.object({ before: id.optional(), limit: z.int().min(1).max(500).default(50) }),
  "attachment.read": z.object({ id }),
  "storage.get": z.object({ key }),
  "storage.set": z.object({ key, value: jsonValueSchema }),
  "storage.delete": z.object({ key }),
  "storage.list": z.object({
    prefix: z.string().max(maxKeyChars).default(""),
    after: z.string().max(maxKeyChars).default(""),
    limit: z.int().min(1).max(1000).default(100),
  }),
  "channel.send": z.object({ content: z.string().max(maxTextChars) }),
  "channel.update": z.object({ id, text: z.string().max(maxTextChars) }),
  "channel.complete": z.object({ id }),
  "channel.callTool": z.object({ name: toolName, input: jsonValueSchema }),
  log: z.object({ level: z.enum(logLevels), text: z.string().max(20_000) }),
} satisfies Record<HostCallName, z.ZodType>;

/** What the handlers of calls take and return. */
export type HostCallHandlers = {
  [N in HostCallName]: (
    input: z.output<(typeof hostCallSchemas)[N]>,
    json: string,
  ) => HostCalls[N]["output"] | Promise<HostCalls[N]["output"]>;
};

export const storageLimits = { valueChars: maxValueChars, totalChars: 64 * 1024 * 1024, entries: 100_000 };

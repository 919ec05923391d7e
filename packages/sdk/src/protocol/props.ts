import { z } from "zod";
import { limitsSchema } from "./budget.ts";
import { createValidationError } from "./error-body.ts";
import { fail } from "./errors.ts";
import { toolNameRule } from "./names.ts";
import { modelRolesSchema, reasoningEffortSchema, roleEffortsSchema } from "./roles.ts";
import { countSchemaNodes } from "./schema-size.ts";

export const toolNameSchema = z.string().regex(toolNameRule.pattern, toolNameRule.form);

/** Deeper than anyone writes, and too shallow to exhaust the stack of a reader. */
const maxDepth = 64;

/** Plain data, as JSON can express it. */
export const dataSchema = z
  .unknown()
  .refine((value) => isWithinDepth(value, maxDepth), { error: `more than ${maxDepth} levels deep`, abort: true })
  .pipe(z.json());

/** A request's schema is compiled and checked in the host, so its size is what counts, not that of its text. */
const maxSchemaNodes = 5_000;

/** What a model sees of a tool that is defined by data. */
export const toolDescription = {
  name: toolNameSchema,
  description: z.string().min(1).max(4000),
  parameters: z
    .record(z.string(), dataSchema)
    .refine(({ type }) => type === "object", { error: 'expected the JSON schema of an object: {"type": "object", …}' })
    .refine((schema) => (countSchemaNodes(schema) ?? Infinity) <= maxSchemaNodes, {
      error: `expected a JSON schema of at most ${maxSchemaNodes} nodes with all references followed, without recursive references`,
    })
    .meta({ description: "JSON schema of the input." }),
};

export const webhookToolSchema = z.strictObject({
  ...toolDescription,
  webhook: z.strictObject({ url: z.url({ protocol: /^https?$/ }).max(2000) }),
});

export const codeToolSchema = z.strictObject({
  ...toolDescription,
  code: z.string().min(1).meta({
    description:
      "The body of an async function, in JavaScript or TypeScript, that reads its input as `input`. Runs in a sandbox.",
  }),
  modules: z
    .record(z.string().min(1).max(200), z.string())
    .refine((modules) => Object.keys(modules).length <= 100, { error: "more than 100 modules" })
    .optional()
    .meta({ description: "Modules by name, for the code to import." }),
});

/** A tool defined by data: the name of a registered tool, a webhook, or code. */
const propsToolSchema = z.union([toolNameSchema, webhookToolSchema, codeToolSchema], {
  error:
    "expected the name of a registered tool, {name, description, parameters, webhook: {url}} or {name, description, parameters, code}; props can only add tools",
});

export type WebhookTool = z.infer<typeof webhookToolSchema>;
export type CodeTool = z.infer<typeof codeToolSchema>;

const settingsSchema = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  maxOutputTokens: z.int().min(1).max(1_000_000).optional(),
  reasoningEffort: reasoningEffortSchema
    .optional()
    .meta({ description: "How much the model thinks before it responds, whatever its role." }),
  thinkingBudget: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .meta({ description: "Tokens that the model may think for. Models without such a limit use the nearest effort." }),
});

const maxPropsBytes = 64 * 1024;

/**
 * What a request, or the creator of an agent, adds to its blueprint. Props can only add; no key removes anything.
 */
export const propsSchema = z
  .strictObject({
    additionalInstructions: z
      .string()
      .max(100_000)
      .optional()
      .meta({ description: "Instructions for the model, after all others." }),
    models: modelRolesSchema.optional(),
    reasoning: roleEffortsSchema.optional(),
    tools: z.array(propsToolSchema).max(64).optional(),
    settings: settingsSchema.optional().meta({ description: "Settings for every model call." }),
    budget: limitsSchema
      .optional()
      .meta({ description: "Limits for one turn. The lower of this and the blueprint's applies." }),
    data: z
      .record(z.string(), dataSchema)
      .optional()
      .meta({ description: "Application data for tools and middleware." }),
  })
  .refine((props) => JSON.stringify(props).length <= maxPropsBytes, { error: `larger than ${maxPropsBytes} bytes` })
  .meta({ id: "Props", description: "What a request or an agent adds to its blueprint." });

export type Props = z.infer<typeof propsSchema>;

/**
 * Parses props that come from code rather than from a request. Throws with the path of a value that is not
 * serializable.
 */
export function parseProps(value: unknown): Props {
  const unserializable = findUnserializable(value, ["props"], []);
  if (unserializable) {
    const { path, what } = unserializable;
    const message = `${path.join(".")} is ${what}, but props must be plain data: strings, numbers, booleans, null, arrays and plain objects.`;
    throw fail("bad_request", message, { issues: [{ path, message: `is ${what}` }] });
  }
  const parsed = z.object({ props: propsSchema }).safeParse({ props: value });
  if (!parsed.success) throw createValidationError("request", parsed.error);
  return parsed.data.props;
}

function isWithinDepth(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isWithinDepth(part, levels - 1));
}

type Path = (string | number)[];

function findUnserializable(
  value: unknown,
  path: Path,
  parents: readonly unknown[],
): { path: Path; what: string } | undefined {
  if (value === null || value === undefined || typeof value === "string" || typeof value === "boolean")
    return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : { path, what: String(value) };
  if (typeof value !== "object") return { path, what: `a ${typeof value}` };
  if (parents.includes(value)) return { path, what: "a circular reference" };
  if (parents.length >= maxDepth) return { path, what: `more than ${maxDepth} levels deep` };
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) {
    return { path, what: `a ${value.constructor?.name ?? "special object"}` };
  }
  const [symbol] = Object.getOwnPropertySymbols(value);
  if (symbol) return { path: [...path, String(symbol)], what: "under a symbol" };
  for (const [key, part] of Object.entries(value)) {
    const found = findUnserializable(part, [...path, Array.isArray(value) ? Number(key) : key], [...parents, value]);
    if (found) return found;
  }
  return undefined;
}

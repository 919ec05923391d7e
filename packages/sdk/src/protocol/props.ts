import { z } from "zod";
import { limitsSchema } from "./budget.ts";
import { createValidationError } from "./error-body.ts";
import { fail } from "./errors.ts";
import { toolNameRule } from "./names.ts";
import { modelRolesSchema } from "./roles.ts";

const toolNameSchema = z.string().regex(toolNameRule.pattern, toolNameRule.form);

/** Deeper than anybody writes, and less than it takes to exhaust whoever reads it. */
const maxDepth = 64;

const dataSchema = z
  .unknown()
  .refine((value) => isWithinDepth(value, maxDepth), { error: `more than ${maxDepth} levels deep`, abort: true })
  .pipe(z.json());

/** What a model is told of a tool that is given by data alone. */
const toolDescription = {
  name: toolNameSchema,
  description: z.string().min(1).max(4000),
  parameters: z
    .record(z.string(), dataSchema)
    .refine(({ type }) => type === "object", { error: 'expected the JSON schema of an object: {"type": "object", …}' })
    .meta({ description: "JSON schema of the input" }),
};

const webhookToolSchema = z.strictObject({
  ...toolDescription,
  webhook: z.strictObject({ url: z.url({ protocol: /^https?$/ }).max(2000) }),
});

const codeToolSchema = z.strictObject({
  ...toolDescription,
  code: z.string().min(1).meta({
    description:
      "the body of an async function, in JavaScript or TypeScript, that finds its input as `input`; run in a sandbox",
  }),
  modules: z
    .record(z.string().min(1).max(200), z.string())
    .refine((modules) => Object.keys(modules).length <= 100, { error: "more than 100 modules" })
    .optional()
    .meta({ description: "by name, to import" }),
});

/** A tool that an agent is given by data alone: one that is registered here, by name, one that answers at an address, or code. */
const propsToolSchema = z.union([toolNameSchema, webhookToolSchema, codeToolSchema], {
  error:
    "expected the name of a registered tool, {name, description, parameters, webhook: {url}} or {name, description, parameters, code}; props can only add tools",
});

export type WebhookTool = z.infer<typeof webhookToolSchema>;
export type CodeTool = z.infer<typeof codeToolSchema>;

const settingsSchema = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  maxOutputTokens: z.int().min(1).max(1_000_000).optional(),
});

const propsLimit = 64 * 1024;

/**
 * The top layer: what a request, or whoever made the agent, adds to it. It can only add; there is no key that takes
 * anything away.
 */
export const propsSchema = z
  .strictObject({
    additionalInstructions: z
      .string()
      .max(100_000)
      .optional()
      .meta({ description: "said to the model after everything else" }),
    models: modelRolesSchema.optional(),
    tools: z.array(propsToolSchema).max(64).optional(),
    settings: settingsSchema.optional().meta({ description: "for every call to the model" }),
    budget: limitsSchema.optional().meta({ description: "for one turn; the lower of this and the blueprint's holds" }),
    data: z
      .record(z.string(), dataSchema)
      .optional()
      .meta({ description: "the application's own, for its tools and middleware" }),
  })
  .refine((props) => JSON.stringify(props).length <= propsLimit, { error: `larger than ${propsLimit} bytes` })
  .meta({ id: "Props", description: "What a request or an agent adds to its blueprint." });

export type Props = z.infer<typeof propsSchema>;

/**
 * Props from code rather than from a request: whatever cannot be written down is refused by its path, before anybody
 * tries to.
 */
export function parseProps(value: unknown): Props {
  const unwritable = findUnwritable(value, ["props"], []);
  if (unwritable) {
    const { path, what } = unwritable;
    const message = `${path.join(".")} is ${what}, and props are data only: texts, numbers, booleans, null, lists and plain objects.`;
    throw fail("bad_request", message, { problems: [{ path, message: `is ${what}` }] });
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

function findUnwritable(
  value: unknown,
  path: Path,
  outside: readonly unknown[],
): { path: Path; what: string } | undefined {
  if (value === null || value === undefined || typeof value === "string" || typeof value === "boolean")
    return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : { path, what: String(value) };
  if (typeof value !== "object") return { path, what: `a ${typeof value}` };
  if (outside.includes(value)) return { path, what: "a part of itself" };
  if (outside.length >= maxDepth) return { path, what: `more than ${maxDepth} levels deep` };
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) {
    return { path, what: `a ${value.constructor?.name ?? "special object"}` };
  }
  const [symbol] = Object.getOwnPropertySymbols(value);
  if (symbol) return { path: [...path, String(symbol)], what: "under a symbol" };
  for (const [key, part] of Object.entries(value)) {
    const found = findUnwritable(part, [...path, Array.isArray(value) ? Number(key) : key], [...outside, value]);
    if (found) return found;
  }
  return undefined;
}

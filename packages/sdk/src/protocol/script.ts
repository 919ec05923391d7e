import { z } from "zod";
import { toValidationIssues } from "./error-body.ts";
import type { ValidationIssue } from "./errors.ts";

/** Parses the scripts of scripted models, for the Worker and the CLI. */

const unknownExpressionError = {
  error: ({ input }: { input?: unknown }) => {
    const unknown = findUnknownExpression(typeof input === "string" ? input : JSON.stringify(input));
    return `unknown expression {{ ${unknown} }}; use message, turn, or results by number or tool`;
  },
};

const anyText = z
  .union([z.string(), z.number(), z.boolean()], "expected text")
  .transform(String)
  .refine((text) => findUnknownExpression(text) === undefined, unknownExpressionError);

const callSchema = z.strictObject({
  tool: z.string("expected the name of a tool").min(1, "expected the name of a tool").max(200),
  input: z
    .record(z.string(), z.unknown(), "expected the tool's input, { … }")
    .refine((input) => findUnknownExpression(JSON.stringify(input)) === undefined, unknownExpressionError)
    .default({}),
});

const statusRule = "expected an HTTP status from 400 to 599";

// A bare number is the status.
const failSchema = z.preprocess(
  (value) => (typeof value === "number" ? { status: value } : value),
  z.strictObject(
    {
      status: z.int(statusRule).min(400, statusRule).max(599, statusRule),
      times: z.int("expected a whole number, 1 or more").min(1, "expected a whole number, 1 or more").optional(),
      retryAfter: z.number("expected seconds").min(0).max(3600).optional(),
    },
    "expected a status, or { status, times?, retryAfter? }",
  ),
);

const stepKeys = ["wait", "reasoning", "text", "call", "calls", "fail"] as const;

const stepSchema = z
  .strictObject(
    {
      wait: z
        .number("expected milliseconds")
        .min(0, "expected milliseconds")
        .max(600_000, "expected at most 600000")
        .optional(),
      reasoning: anyText.optional(),
      text: anyText.optional(),
      call: callSchema.optional(),
      calls: z.array(callSchema, "expected a list of calls").min(1, "expected at least one call").max(50).optional(),
      fail: failSchema.optional(),
    },
    "expected a step, for example { text: Hello }",
  )
  .refine((step) => Object.keys(step).length > 0, {
    error: "the step is empty; give text, reasoning, call, calls, fail or wait",
    // A step with only unknown keys is not empty, and the keys are reported already.
    when: ({ issues }) => issues.length === 0,
  });

const exchangeSchema = z.strictObject(
  { when: anyText.optional(), steps: z.array(stepSchema, "expected a list of steps").max(1000) },
  "expected an exchange: { when?, steps }",
);

const scriptSchema = z.strictObject(
  {
    description: z.string().max(2000).optional(),
    pace: z.number("expected milliseconds").min(0, "expected milliseconds").max(10_000).default(0),
    exchanges: z
      .array(exchangeSchema, "expected a list of exchanges")
      .min(1, "expected at least one exchange")
      .max(1000),
  },
  "expected a list of exchanges",
);

export type Script = z.infer<typeof scriptSchema>;
export type ScriptInput = z.input<typeof scriptSchema>;
export type Exchange = Script["exchanges"][number];
export type ScriptStep = Exchange["steps"][number];
export type ScriptCall = z.infer<typeof callSchema>;
export type ScriptFailure = NonNullable<ScriptStep["fail"]>;

/** Matches `{{ message }}`, `{{ turn }}`, `{{ results.0 }}` and `{{ results.bash.stdout }}`. */
export const expressionPattern = /\{\{\s*(.*?)\s*\}\}/g;

const knownExpression = /^(?:message|turn|results(?:\.[\w-]+)+)$/;

function findUnknownExpression(text: string): string | undefined {
  return [...text.matchAll(expressionPattern)]
    .map(([, inner = ""]) => inner)
    .find((inner) => !knownExpression.test(inner));
}

/** Parses a script in any of its forms. The paths of issues refer to the input as it was written. */
export function validateScript(
  input: unknown,
): { script: Script; issues?: undefined } | { script?: undefined; issues: ValidationIssue[] } {
  const script = Array.isArray(input) ? { exchanges: input } : input;
  const normalized =
    isObject(script) && Array.isArray(script.exchanges)
      ? { ...script, exchanges: script.exchanges.map(normalizeExchange) }
      : script;
  const parsed = scriptSchema.safeParse(normalized);
  if (parsed.success) return { script: parsed.data };
  const issues = parsed.error.issues
    .flatMap(toValidationIssues)
    .map((issue) => ({ ...issue, path: toInputPath(input, issue.path) }));
  return { issues: issues.slice(0, 20) };
}

// `pattern` and `then` are aliases of `when` and `steps`. A single step can be given without a list.
function normalizeExchange(exchange: unknown): unknown {
  if (!isObject(exchange)) return exchange;
  const { pattern, then, ...rest } = exchange;
  if (pattern !== undefined && !("when" in rest)) rest.when = pattern;
  if (then !== undefined && !("steps" in rest)) rest.steps = then;
  if ("steps" in rest || !stepKeys.some((key) => key in rest)) return rest;
  const { when, ...step } = rest;
  return { ...(when === undefined ? {} : { when }), steps: [step] };
}

function toInputPath(input: unknown, path: ValidationIssue["path"]): ValidationIssue["path"] {
  const [first, index, key, ...rest] = path;
  if (first !== "exchanges") return path;
  const exchanges = Array.isArray(input) ? input : (input as { exchanges: unknown[] }).exchanges;
  const prefix = Array.isArray(input) ? [] : [first];
  if (index === undefined) return prefix;
  const exchange = exchanges[index as number];
  if (key === undefined) return [...prefix, index];
  const toInputKey = (key: string, alias: string) =>
    isObject(exchange) && !(key in exchange) && alias in exchange ? alias : key;
  if (key === "when") return [...prefix, index, toInputKey("when", "pattern")];
  if (key !== "steps") return [...prefix, index, key, ...rest];
  const steps = toInputKey("steps", "then");
  const isInline = isObject(exchange) && !(steps in exchange) && rest.length > 0;
  return isInline ? [...prefix, index, ...rest.slice(1)] : [...prefix, index, steps, ...rest];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

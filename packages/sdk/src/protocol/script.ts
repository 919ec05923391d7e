import { z } from "zod";
import { toValidationIssues } from "./error-body.ts";
import type { Problem } from "./errors.ts";

/** Scripts of scripted models. What a person writes is read here, once, for the Worker and the command line. */

const unknownExpressionError = {
  error: ({ input }: { input?: unknown }) => {
    const unknown = findUnknownExpression(typeof input === "string" ? input : JSON.stringify(input));
    return `{{ ${unknown} }} is not known; there are message, turn, and results by number or tool`;
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
    error: "an empty step; give text, reasoning, call, calls, fail or wait",
    // A step whose words are all unknown is not empty, and they are named already.
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
    exchanges: z.array(exchangeSchema, "expected a list of exchanges").min(1, "a script needs an exchange").max(1000),
  },
  "expected a list of exchanges",
);

export type Script = z.infer<typeof scriptSchema>;
export type ScriptInput = z.input<typeof scriptSchema>;
export type Exchange = Script["exchanges"][number];
export type ScriptStep = Exchange["steps"][number];
export type ScriptCall = z.infer<typeof callSchema>;
export type ScriptFailure = NonNullable<ScriptStep["fail"]>;

/** `{{ message }}`, `{{ turn }}`, `{{ results.0 }}`, `{{ results.bash.stdout }}`. */
export const compilePattern = /\{\{\s*(.*?)\s*\}\}/g;

const knownExpression = /^(?:message|turn|results(?:\.[\w-]+)+)$/;

function findUnknownExpression(text: string): string | undefined {
  return [...text.matchAll(compilePattern)]
    .map(([, inner = ""]) => inner)
    .find((inner) => !knownExpression.test(inner));
}

/** Reads a script in any of its spellings; the paths of problems are those of what was written. */
export function validateScript(
  written: unknown,
): { script: Script; problems?: undefined } | { script?: undefined; problems: Problem[] } {
  const whole = Array.isArray(written) ? { exchanges: written } : written;
  const spelled =
    isObject(whole) && Array.isArray(whole.exchanges) ? { ...whole, exchanges: whole.exchanges.map(spellOut) } : whole;
  const read = scriptSchema.safeParse(spelled);
  if (read.success) return { script: read.data };
  const problems = read.error.issues
    .flatMap(toValidationIssues)
    .map((problem) => ({ ...problem, path: toWrittenPath(written, problem.path) }));
  return { problems: problems.slice(0, 20) };
}

// `pattern` and `then` are other words for `when` and `steps`; one step alone needs no list.
function spellOut(exchange: unknown): unknown {
  if (!isObject(exchange)) return exchange;
  const { pattern, then, ...rest } = exchange;
  if (pattern !== undefined && !("when" in rest)) rest.when = pattern;
  if (then !== undefined && !("steps" in rest)) rest.steps = then;
  if ("steps" in rest || !stepKeys.some((key) => key in rest)) return rest;
  const { when, ...step } = rest;
  return { ...(when === undefined ? {} : { when }), steps: [step] };
}

function toWrittenPath(written: unknown, path: Problem["path"]): Problem["path"] {
  const [first, index, key, ...rest] = path;
  if (first !== "exchanges") return path;
  const exchanges = Array.isArray(written) ? written : (written as { exchanges: unknown[] }).exchanges;
  const front = Array.isArray(written) ? [] : [first];
  if (index === undefined) return front;
  const exchange = exchanges[index as number];
  if (key === undefined) return [...front, index];
  const word = (full: string, other: string) =>
    isObject(exchange) && !(full in exchange) && other in exchange ? other : full;
  if (key === "when") return [...front, index, word("when", "pattern")];
  if (key !== "steps") return [...front, index, key, ...rest];
  const steps = word("steps", "then");
  const inline = isObject(exchange) && !(steps in exchange) && rest.length > 0;
  return inline ? [...front, index, ...rest.slice(1)] : [...front, index, steps, ...rest];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

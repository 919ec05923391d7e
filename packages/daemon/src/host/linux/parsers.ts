import { fail, createValidationError, processQuerySchema } from "@thinkery/sdk";
import { commandSchema, workingCopyPlanSchema } from "@thinkery/sdk/internal";
import { z } from "zod";

// Validates main's requests. Loaded lazily and separate from the routes, so that a starting host does not load zod.

const agentQuery = commandSchema.pick({ agent: true });
const processQuery = agentQuery.extend({ id: z.string().min(1).max(100) });
const outputQuery = processQuery.extend(processQuerySchema.shape);

export function parseCommand(body: Buffer): z.infer<typeof commandSchema> {
  return validate(commandSchema, parseJson(body));
}

const bytesPerMb = 1024 * 1024;

const collectionQuery = agentQuery.extend({
  largest: z.coerce
    .number()
    .int()
    .min(1)
    .max(100 * bytesPerMb)
    .default(32 * bytesPerMb),
});

export const parseCollectionQuery = (query: URLSearchParams) => validate(collectionQuery, Object.fromEntries(query));

export const parsePlan = (body: Buffer) => validate(workingCopyPlanSchema, parseJson(body));

export const parseAgent = (query: URLSearchParams) => validate(agentQuery, Object.fromEntries(query)).agent;

export const parseProcessQuery = (query: URLSearchParams) => validate(processQuery, Object.fromEntries(query));

export const parseOutputQuery = (query: URLSearchParams) => validate(outputQuery, Object.fromEntries(query));

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw fail("bad_request", "The request body is not valid JSON.");
  }
}

function validate<T>(schema: z.ZodType<T>, value: unknown): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw createValidationError("command", error);
}

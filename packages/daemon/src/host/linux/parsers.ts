import { fail, createValidationError, processQuerySchema } from "@thinkery/sdk";
import { commandSchema, workingCopyPlanSchema } from "@thinkery/sdk/internal";
import { z } from "zod";

/** What main asks for, checked. Apart from the routes, because a host that starts has nothing to check yet. */

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
    throw fail("bad_request", "The order is not JSON.");
  }
}

function validate<T>(schema: z.ZodType<T>, value: unknown): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw createValidationError("command", error);
}

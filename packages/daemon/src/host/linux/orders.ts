import { fail, invalid, processQuerySchema } from "@thinkery/sdk";
import { commandSchema, workingCopyPlanSchema } from "@thinkery/sdk/internal";
import { z } from "zod";

/** What main asks for, checked. Apart from the routes, because a host that starts has nothing to check yet. */

const agentQuery = commandSchema.pick({ agent: true });
const processQuery = agentQuery.extend({ id: z.string().min(1).max(100) });
const outputQuery = processQuery.extend(processQuerySchema.shape);

export function orderIn(body: Buffer): z.infer<typeof commandSchema> {
  return checked(commandSchema, parsed(body));
}

const mb = 1024 * 1024;

const collectionQuery = agentQuery.extend({ largest: z.coerce.number().int().min(1).max(100 * mb).default(32 * mb) });

export const collectionIn = (query: URLSearchParams) => checked(collectionQuery, Object.fromEntries(query));

export const planIn = (body: Buffer) => checked(workingCopyPlanSchema, parsed(body));

export const agentIn = (query: URLSearchParams) => checked(agentQuery, Object.fromEntries(query)).agent;

export const processIn = (query: URLSearchParams) => checked(processQuery, Object.fromEntries(query));

export const outputIn = (query: URLSearchParams) => checked(outputQuery, Object.fromEntries(query));

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw fail("bad_request", "The order is not JSON.");
  }
}

function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw invalid("command", error);
}

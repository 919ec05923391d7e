import { type Agency, type Agent, isThinkeryError, type Member } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";

const pageSize = 500;

export function listAgents(client: Client, agency: string): Promise<Agent[]> {
  return readAllPages(async (query) => {
    const { agents, next } = await client.call("listAgents", { params: { agency }, query });
    return { items: agents, next };
  });
}

export function listAgencies(client: Client): Promise<Agency[]> {
  return readAllPages(async (query) => {
    const { agencies, next } = await client.call("listAgencies", { query });
    return { items: agencies, next };
  });
}

/** Returns the people who may use an agency, then its agents. */
export function listMembers(client: Client, agency: string): Promise<Member[]> {
  return readAllPages(async (query) => {
    const page = await withRetry((signal) => client.call("listMembers", { params: { agency }, query, signal }));
    return { items: page.members, next: page.next };
  });
}

const maxConcurrent = 8;

/** Calls `map` for every agent of an agency, a few at a time; returns the results in list order. */
export async function mapAgents<T>(client: Client, agency: string, map: (agent: Agent) => Promise<T>): Promise<T[]> {
  const agents = await listAgents(client, agency);
  const results: T[] = [];
  // An agent deleted in the meantime is skipped.
  const mapIfExists = (agent: Agent) => map(agent).then((result) => [result], ignoreNotFound);
  for (let from = 0; from < agents.length; from += maxConcurrent) {
    results.push(...(await Promise.all(agents.slice(from, from + maxConcurrent).map(mapIfExists))).flat());
  }
  return results;
}

function ignoreNotFound(error: unknown): [] {
  if (isThinkeryError(error) && error.code === "not_found") return [];
  throw error;
}

/** Reads all pages of a list endpoint. */
export async function readAllPages<Item>(
  readPage: (query: { limit: number; after?: string }) => Promise<{ items: Item[]; next?: string | undefined }>,
): Promise<Item[]> {
  const all: Item[] = [];
  let after: string | undefined;
  do {
    const { items, next } = await readPage({ limit: pageSize, ...(after ? { after } : {}) });
    all.push(...items);
    // Guards against a host that returns the same page forever.
    after = next === after ? undefined : next;
  } while (after !== undefined);
  return all;
}

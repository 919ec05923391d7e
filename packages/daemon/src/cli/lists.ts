import { type Agency, type Agent, isThinkeryError } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";

const pageSize = 500;

export function listAgents(client: Client, agency: string): Promise<Agent[]> {
  return readAllPages(async (after) => {
    const { agents, next } = await client.call("listAgents", {
      params: { agency },
      query: { limit: pageSize, ...(after ? { after } : {}) },
    });
    return { items: agents, next };
  });
}

export function listAgencies(client: Client): Promise<Agency[]> {
  return readAllPages(async (after) => {
    const { agencies, next } = await client.call("listAgencies", {
      query: { limit: pageSize, ...(after ? { after } : {}) },
    });
    return { items: agencies, next };
  });
}

const maxConcurrent = 8;

/** Asks something of every agent of an agency, a few at a time, in the order of the list. */
export async function mapAgents<T>(client: Client, agency: string, ask: (agent: Agent) => Promise<T>): Promise<T[]> {
  const agents = await listAgents(client, agency);
  const answers: T[] = [];
  // One that was deleted a moment ago is no failure of the list.
  const askIfThere = (agent: Agent) => ask(agent).then((answer) => [answer], ignoreNotFound);
  for (let from = 0; from < agents.length; from += maxConcurrent) {
    answers.push(...(await Promise.all(agents.slice(from, from + maxConcurrent).map(askIfThere))).flat());
  }
  return answers;
}

function ignoreNotFound(error: unknown): [] {
  if (isThinkeryError(error) && error.code === "not_found") return [];
  throw error;
}

// Everything of a list that the host answers page by page.
async function readAllPages<Item>(
  page: (after: string | undefined) => Promise<{ items: Item[]; next?: string | undefined }>,
): Promise<Item[]> {
  const all: Item[] = [];
  let after: string | undefined;
  do {
    const { items, next } = await page(after);
    all.push(...items);
    // A host that repeats itself must not keep us here for ever.
    after = next === after ? undefined : next;
  } while (after !== undefined);
  return all;
}

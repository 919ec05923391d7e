import type { Agency, Agent } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";

const pageSize = 500;

export function listAgents(client: Client, agency: string): Promise<Agent[]> {
  return allPages(async (after) => {
    const { agents, next } = await client.call("listAgents", {
      params: { agency },
      query: { limit: pageSize, ...(after ? { after } : {}) },
    });
    return { items: agents, next };
  });
}

export function listAgencies(client: Client): Promise<Agency[]> {
  return allPages(async (after) => {
    const { agencies, next } = await client.call("listAgencies", {
      query: { limit: pageSize, ...(after ? { after } : {}) },
    });
    return { items: agencies, next };
  });
}

// Everything of a list that the host answers page by page.
async function allPages<Item>(
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

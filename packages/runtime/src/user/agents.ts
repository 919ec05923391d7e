import { type Agency, type Agent, agentObjectName, type PageQuery, parseAddress } from "@thinkery/sdk";

type List<Item, Name extends string> = { [K in Name]: Item[] } & { next?: string };

interface Sources {
  agency(id: string): Agency | undefined;
  agencies(page: PageQuery): List<Agency, "agencies">;
  agents(agency: string, page: PageQuery): Promise<List<Agent, "agents">>;
}

/** So many agencies are asked for one page; what is left is for the next. */
const maxAgencies = 50;

/**
 * A page through the agents of several agencies. Its mark is the name of the last agent's object; an agency with nothing
 * behind its “~” has been read to its end.
 */
export async function pageOfAgents({ limit, after = "" }: PageQuery, sources: Sources): Promise<List<Agent, "agents">> {
  const { agency: from, path: [agent] = [""] } = parseAddress(after) ?? { agency: after.split("~")[0] ?? "" };
  const begun = agent ? sources.agency(from) : undefined;
  const { agencies, next } = sources.agencies({ limit: maxAgencies, ...(from ? { after: from } : {}) });
  const agents: Agent[] = [];
  for (const { id } of begun ? [begun, ...agencies] : agencies) {
    if (agents.length === limit) return { agents, next: markOf(agents, limit) };
    const page = { limit: limit - agents.length, ...(id === from && agent ? { after: agent } : {}) };
    const found = await sources.agents(id, page);
    agents.push(...found.agents);
    if (found.next) return { agents, next: markOf(agents, limit) };
  }
  return next ? { agents, next: agentObjectName(agencies.at(-1)?.id ?? "", "") } : { agents };
}

function markOf(agents: Agent[], limit: number): string {
  const last = agents[limit - 1];
  return last ? agentObjectName(last.agency, last.name) : "";
}

import { type Agency, type Agent, formatAgentObjectName, type PageQuery, parseAddress } from "@thinkery/sdk";

type Page<Item, Name extends string> = { [K in Name]: Item[] } & { next?: string };

interface Sources {
  findAgency(id: string): Agency | undefined;
  listAgencies(page: PageQuery): Page<Agency, "agencies">;
  listAgents(agency: string, page: PageQuery): Promise<Page<Agent, "agents">>;
}

/** Maximum agencies queried per page; the others follow on the next page. */
const maxAgencies = 50;

/**
 * Pages through the agents of several agencies. The cursor is the object name of the last agent; an agency with nothing
 * after its “~” has been read to its end.
 */
export async function listAgentPage(
  { limit, after = "" }: PageQuery,
  sources: Sources,
): Promise<Page<Agent, "agents">> {
  const { agency: from, path: [agent] = [""] } = parseAddress(after) ?? { agency: after.split("~")[0] ?? "" };
  const current = agent ? sources.findAgency(from) : undefined;
  const { agencies, next } = sources.listAgencies({ limit: maxAgencies, ...(from ? { after: from } : {}) });
  const agents: Agent[] = [];
  for (const { id } of current ? [current, ...agencies] : agencies) {
    if (agents.length === limit) return { agents, next: createCursor(agents, limit) };
    const page = { limit: limit - agents.length, ...(id === from && agent ? { after: agent } : {}) };
    const found = await sources.listAgents(id, page);
    agents.push(...found.agents);
    if (found.next) return { agents, next: createCursor(agents, limit) };
  }
  return next ? { agents, next: formatAgentObjectName(agencies.at(-1)?.id ?? "", "") } : { agents };
}

function createCursor(agents: Agent[], limit: number): string {
  const last = agents[limit - 1];
  return last ? formatAgentObjectName(last.agency, last.name) : "";
}

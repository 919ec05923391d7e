import type { Agency, Agent, ListedBlueprint } from "@thinkery/sdk";
import { useEffect } from "react";
import { followObject } from "./follow.ts";
import { call } from "./host.ts";
import { type Pages, readPages } from "./pages.ts";
import { createSource, type Snapshot, type Source, useSource } from "./source.ts";

export interface AgencyContents {
  agents: Pages<Agent>;
  blueprints: ListedBlueprint[];
}

const agencyLists = new Map<string, Source<Pages<Agency>>>();
const contents = new Map<string, Source<AgencyContents>>();
const agents = new Map<string, Source<Agent>>();

export function getAgenciesSource(user: string): Source<Pages<Agency>> {
  return getOrCreate(agencyLists, user, () =>
    createSource(
      () =>
        readPages(async (query) => {
          const { agencies, next } = await call("listAgencies", { query });
          return { items: agencies, next };
        }),
      followObject(`/agents/user/${user}`),
    ),
  );
}

/** The agents and blueprints of an agency. */
export function getContentsSource(agency: string): Source<AgencyContents> {
  const params = { agency };
  return getOrCreate(contents, agency, () =>
    createSource(
      async () => {
        const [agentPages, { blueprints }] = await Promise.all([
          readPages(async (query) => {
            const { agents, next } = await call("listAgents", { params, query });
            return { items: agents, next };
          }),
          call("listBlueprints", { params }),
        ]);
        return { agents: agentPages, blueprints };
      },
      followObject(`/agents/agency/${agency}`),
    ),
  );
}

/** One agent, or a sub-agent by its path, reloaded whenever its agency changes. */
export function useAgent(agency: string, agent: string): Snapshot<Agent> {
  const agencyContents = useSource(getContentsSource(agency));
  const source = getAgentSource(agency, agent);
  const own = useSource(source);
  useEffect(() => {
    if (agencyContents.at) void source.reload();
  }, [source, agencyContents.at]);
  const listed = agencyContents.value?.agents.items.find((item) => item.name === agent);
  return own.value || !listed ? own : { ...own, value: listed };
}

/** Drops all cached data so that it is not shown to the next user who logs in. */
export function forgetAgencies(): void {
  agencyLists.clear();
  contents.clear();
  agents.clear();
}

function getAgentSource(agency: string, agent: string): Source<Agent> {
  return getOrCreate(agents, `${agency}~${agent}`, () =>
    // Its path is what everything on the page addresses a sub-agent by.
    createSource(async () => ({ ...(await call("getAgent", { params: { agency, agent } })), name: agent })),
  );
}

function getOrCreate<T>(sources: Map<string, Source<T>>, key: string, create: () => Source<T>): Source<T> {
  const existing = sources.get(key);
  if (existing) return existing;
  const source = create();
  sources.set(key, source);
  return source;
}

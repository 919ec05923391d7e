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

/** The agencies of a user. */
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

/** What is in an agency. */
export function getContentsSource(agency: string): Source<AgencyContents> {
  const params = { agency };
  return getOrCreate(contents, agency, () =>
    createSource(
      async () => {
        const [agentPages, { blueprints }] = await Promise.all([
          readPages(async (query) => {
            const answer = await call("listAgents", { params, query });
            return { items: answer.agents, next: answer.next };
          }),
          call("listBlueprints", { params }),
        ]);
        return { agents: agentPages, blueprints };
      },
      followObject(`/agents/agency/${agency}`),
    ),
  );
}

/** One agent, asked for again whenever its agency changes. */
export function useAgent(agency: string, agent: string): Snapshot<Agent> {
  const around = useSource(getContentsSource(agency));
  const source = getAgentSource(agency, agent);
  const own = useSource(source);
  useEffect(() => {
    if (around.at) void source.reload();
  }, [source, around.at]);
  const listed = around.value?.agents.items.find((item) => item.name === agent);
  return own.value || !listed ? own : { ...own, value: listed };
}

/** Nothing of one person is shown to the next. */
export function forgetAgencies(): void {
  agencyLists.clear();
  contents.clear();
  agents.clear();
}

function getAgentSource(agency: string, agent: string): Source<Agent> {
  return getOrCreate(agents, `${agency}~${agent}`, () =>
    createSource(() => call("getAgent", { params: { agency, agent } })),
  );
}

function getOrCreate<T>(sources: Map<string, Source<T>>, key: string, make: () => Source<T>): Source<T> {
  const known = sources.get(key);
  if (known) return known;
  const made = make();
  sources.set(key, made);
  return made;
}

import type { Agency, Agent, ListedBlueprint } from "@thinkery/sdk";
import { useEffect } from "react";
import { followObject } from "./follow.ts";
import { call } from "./host.ts";
import { type Pages, readPages } from "./pages.ts";
import { createSource, type Snapshot, type Source, useSource } from "./source.ts";

export interface Contents {
  agents: Pages<Agent>;
  blueprints: ListedBlueprint[];
}

const agencyLists = new Map<string, Source<Pages<Agency>>>();
const contents = new Map<string, Source<Contents>>();
const agents = new Map<string, Source<Agent>>();

/** The agencies of a user. */
export function agenciesOf(user: string): Source<Pages<Agency>> {
  return kept(agencyLists, user, () =>
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
export function contentsOf(agency: string): Source<Contents> {
  const params = { agency };
  return kept(contents, agency, () =>
    createSource(async () => {
      const [agentPages, { blueprints }] = await Promise.all([
        readPages(async (query) => {
          const answer = await call("listAgents", { params, query });
          return { items: answer.agents, next: answer.next };
        }),
        call("listBlueprints", { params }),
      ]);
      return { agents: agentPages, blueprints };
    }, followObject(`/agents/agency/${agency}`)),
  );
}

/** One agent, asked for again whenever its agency changes. */
export function useAgent(agency: string, agent: string): Snapshot<Agent> {
  const around = useSource(contentsOf(agency));
  const source = agentSource(agency, agent);
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

function agentSource(agency: string, agent: string): Source<Agent> {
  return kept(agents, `${agency}~${agent}`, () => createSource(() => call("getAgent", { params: { agency, agent } })));
}

function kept<T>(sources: Map<string, Source<T>>, key: string, make: () => Source<T>): Source<T> {
  const known = sources.get(key);
  if (known) return known;
  const made = make();
  sources.set(key, made);
  return made;
}

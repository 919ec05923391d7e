import type { Agency } from "@thinkery/sdk";
import { getContentsSource } from "../api/agencies.ts";
import { useSource } from "../api/source.ts";
import { useWatchedAgents } from "../api/team/team.ts";
import { Icon } from "../parts/icon.tsx";
import { isIndex, type Place } from "../views/view-registry.ts";
import { AgentRow } from "./agent-row.tsx";
import { Link } from "./link.tsx";
import { buildPath } from "./navigation.ts";
import { setOpen, useOpenAgencies } from "./open-agencies.ts";
import { moveInTree } from "./tree-keys.ts";

const maxShownAgents = 200;

export function Tree({ agencies, place }: { agencies: Agency[]; place: Place }) {
  return (
    <ul className="tree" onKeyDown={moveInTree}>
      {agencies.map((agency) => (
        <AgencyBranch key={agency.id} agency={agency} place={place} />
      ))}
    </ul>
  );
}

function AgencyBranch({ agency, place }: { agency: Agency; place: Place }) {
  const open = useOpenAgencies().has(agency.id);
  const isCurrent = place.scope === "agency" && place.agency === agency.id;
  const ariaCurrent = isCurrent && (isIndex(place.match.view) ? "page" : true);
  return (
    <li>
      <div className="tree-row" data-current={isCurrent || undefined}>
        <button
          type="button"
          className="tree-toggle"
          aria-expanded={open}
          aria-label={`Agents in ${agency.name}`}
          onClick={() => setOpen(agency.id, !open)}
        >
          <Icon name="chevron" />
        </button>
        <Link
          className="tree-link"
          href={buildPath(agency.id)}
          aria-current={ariaCurrent || undefined}
          data-branch={agency.id}
          title={agency.id}
        >
          <Icon name="agency" />
          <span className="tree-name">{agency.name}</span>
        </Link>
      </div>
      {open && <Leaves agency={agency.id} place={place} />}
    </li>
  );
}

function Leaves({ agency, place }: { agency: string; place: Place }) {
  const { value, error } = useSource(getContentsSource(agency));
  const states = useWatchedAgents(agency);
  if (!value) return <p className="tree-note">{error ? error.message : "Loading…"}</p>;
  const { items, more } = value.agents;
  if (items.length === 0) return <p className="tree-note">No agents yet</p>;
  const shown = items.slice(0, maxShownAgents);
  const current = place.scope === "agent" && place.agency === agency ? place.agent : undefined;
  return (
    <ul className="tree-leaves">
      {shown.map(({ name, subagents }) => (
        <AgentRow
          key={name}
          agency={agency}
          path={name}
          subagents={subagents}
          state={states.find((state) => state.name === name)}
          current={current}
        />
      ))}
      {(more || items.length > shown.length) && (
        <li className="tree-row">
          <Link className="tree-link tree-more" href={buildPath(agency)} data-leaf-of={agency}>
            {more ? "More…" : `${items.length - shown.length} more…`}
          </Link>
        </li>
      )}
    </ul>
  );
}

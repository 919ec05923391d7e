import { type Agent, globalAgency } from "@thinkery/sdk";
import type { ReactNode } from "react";
import type { Pages } from "../api/pages.ts";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";
import { DateTime } from "../parts/date-time.tsx";
import { Empty } from "../parts/empty.tsx";

interface AgentTableProps {
  agency: string;
  agents: Pages<Agent>;
  create: ReactNode;
}

export function AgentTable({ agency, agents, create }: AgentTableProps) {
  if (agents.items.length === 0) {
    const target = agency === globalAgency ? "alice" : `alice@${agency}`;
    return (
      <Empty title="No agents yet" action={create}>
        <p>
          Agents are created from the blueprints below and persist until you delete them. From a terminal:{" "}
          <code>thinkery new {target}</code>
        </p>
      </Empty>
    );
  }
  return (
    <div className="table-frame">
      <table>
        <thead>
          <tr>
            <th scope="col" className="column-name">
              Name
            </th>
            <th scope="col">Blueprint</th>
            <th scope="col" className="column-model">
              Model
            </th>
            <th scope="col">Owner</th>
            <th scope="col" className="column-created">
              Created
            </th>
          </tr>
        </thead>
        <tbody>
          {agents.items.map((agent) => (
            <tr key={agent.name}>
              <th scope="row">
                <Link href={buildPath(agency, agent.name)}>{agent.name}</Link>
              </th>
              <td data-label="Blueprint">{agent.blueprint}</td>
              <td data-label="Model">
                {agent.model ? <span className="mono">{agent.model}</span> : <span className="faint">default</span>}
              </td>
              <td data-label="Owner">{agent.owner}</td>
              <td data-label="Created">
                <DateTime at={agent.createdAt} short />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {agents.more && <p className="table-note">Showing the first {agents.items.length} agents</p>}
    </div>
  );
}

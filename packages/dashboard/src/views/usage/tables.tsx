import { type Agency, globalAgency } from "@thinkery/sdk";
import type { ReactNode } from "react";
import { getAgenciesSource, getContentsSource } from "../../api/agencies.ts";
import { useSource } from "../../api/source.ts";
import type { Figures, Share, Usage } from "../../api/usage.ts";
import { Link } from "../../frame/link.tsx";
import { buildPath } from "../../frame/navigation.ts";
import { formatCost, formatNumber, formatSeconds, formatTokens } from "../../parts/amount.ts";

interface Row extends Figures {
  key: string;
  name: ReactNode;
}

export function ModelTable({ usage }: { usage: Usage }) {
  const rows = usage.byModel.map((figures) => ({
    ...figures,
    key: figures.model,
    name: <span className="mono">{figures.model}</span>,
  }));
  return <UsageTable title="Model" rows={rows} />;
}

interface ShareTableProps {
  usage: Usage;
  user: string;
  agency: Agency | undefined;
}

/** Usage by agent or agency, including deleted ones. */
export function ShareTable({ usage, user, agency }: ShareTableProps) {
  const agencies = useSource(getAgenciesSource(user)).value;
  const agents = useSource(agency && getContentsSource(agency.id)).value?.agents;
  const existing = agency
    ? agents
    : agencies && {
        more: agencies.more,
        items: agencies.items.map(({ id, name, createdAt }) => ({ name: id, title: name, createdAt })),
      };
  const rows = usage.shares
    .toSorted((one, other) => sumTokens(other) - sumTokens(one))
    .map((share): Row => {
      const found = existing?.items.find((one) => isSame(one, share));
      const path = agency ? buildPath(agency.id, share.name) : buildPath(share.name);
      // If the list is incomplete, a missing entry may still exist.
      const isDeleted = existing !== undefined && !found && !existing.more;
      const title = found && "title" in found ? found.title : share.name;
      return {
        ...share,
        key: `${share.name} ${share.createdAt}`,
        name: isDeleted ? <DeletedName name={share.name} /> : <Link href={path}>{title}</Link>,
      };
    });
  return <UsageTable title={agency ? "Agent" : "Agency"} rows={rows} />;
}

/** An agent or agency recreated under an old name is a different one, except for the global agency. */
function isSame(one: Named, other: Named): boolean {
  return (
    one.name === other.name && (one.name === globalAgency || Date.parse(one.createdAt) === Date.parse(other.createdAt))
  );
}

type Named = Pick<Share, "name" | "createdAt">;

function DeletedName({ name }: { name: string }) {
  return (
    <>
      {name} <span className="faint">deleted</span>
    </>
  );
}

function UsageTable({ title, rows }: { title: string; rows: readonly Row[] }) {
  const maxTokens = Math.max(1, ...rows.map(sumTokens));
  return (
    <div className="table-frame">
      <table className="usage-table">
        <thead>
          <tr>
            <th scope="col" className="column-name">
              {title}
            </th>
            {["Calls", "Tokens in", "Tokens out", "Time", "Cost"].map((head) => (
              <th key={head} scope="col" className="number">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row">
                {row.name}
                <span
                  className="share"
                  aria-hidden="true"
                  style={{ width: `${(100 * sumTokens(row)) / maxTokens}%` }}
                />
              </th>
              <td className="number" data-label="Calls">
                {formatNumber(row.calls)}
              </td>
              <td className="number" data-label="Tokens in">
                {formatTokens(row.inputTokens)}
                {row.cachedInputTokens ? (
                  <span className="cached faint"> {formatTokens(row.cachedInputTokens)} cached</span>
                ) : null}
              </td>
              <td className="number" data-label="Tokens out">
                {formatTokens(row.outputTokens)}
              </td>
              <td className="number" data-label="Time">
                {formatSeconds(row.seconds)}
              </td>
              <td className="number" data-label="Cost">
                {row.costUsd === null ? <span className="warn-text">unknown</span> : formatCost(row.costUsd)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function sumTokens({ inputTokens, outputTokens }: Figures): number {
  return inputTokens + outputTokens;
}

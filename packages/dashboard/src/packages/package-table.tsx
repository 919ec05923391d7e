import type { PackageSummary } from "@thinkery/sdk";
import { useMemo } from "react";
import type { Pages } from "../api/pages.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { Link } from "../frame/link.tsx";
import { buildPackagePath } from "../frame/navigation.ts";
import { DateTime } from "../parts/date-time.tsx";
import { CapabilityChips } from "./capability-chips.tsx";
import { useNewKeys } from "./use-new-keys.ts";

interface PackageTableProps {
  agency: string;
  packages: Pages<PackageSummary>;
}

const toKey = ({ name, version }: PackageSummary) => `${name} ${version}`;

export function PackageTable({ agency, packages: { items, more } }: PackageTableProps) {
  const added = useNewKeys(useMemo(() => items.map(toKey), [items]));
  return (
    <div className="table-frame">
      <table className="package-table" aria-label="Packages">
        <thead>
          <tr>
            <th scope="col" className="column-name">
              Package
            </th>
            <th scope="col" className="column-version">
              Version
            </th>
            <th scope="col">May use</th>
            <th scope="col" className="column-agents">
              Agents
            </th>
            <th scope="col" className="column-deployed">
              Deployed
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <PackageRow key={item.name} agency={agency} item={item} isNew={added.has(toKey(item))} />
          ))}
        </tbody>
      </table>
      {more && <p className="table-note">Showing the first {items.length} packages</p>}
    </div>
  );
}

function PackageRow({ agency, item, isNew }: { agency: string; item: PackageSummary; isNew: boolean }) {
  const { name, displayName, version, capabilities, agents, deployedAt, deployedBy } = item;
  return (
    <tr data-new={isNew || undefined}>
      <th scope="row">
        <Link href={buildPackagePath(agency, name)}>{sanitizeText(displayName)}</Link>
        {displayName !== name && <span className="package-name mono faint">{name}</span>}
      </th>
      <td data-label="Version">{version}</td>
      <td data-label="May use">
        <CapabilityChips capabilities={capabilities} />
      </td>
      <td data-label="Agents">{formatAgentCount(agents)}</td>
      <td data-label="Deployed">
        <span>
          <DateTime at={deployedAt} short /> <span className="faint">by {sanitizeText(deployedBy)}</span>
        </span>
      </td>
    </tr>
  );
}

/** The host lists at most so many agents of a package. */
const maxListedAgents = 100;

export function formatAgentCount(agents: readonly string[]): string {
  return agents.length < maxListedAgents ? String(agents.length) : `${maxListedAgents}+`;
}

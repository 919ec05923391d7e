import { type Agency, isThinkeryError, type Package, type PackageVersion } from "@thinkery/sdk";
import { type ReactNode, useMemo, useState } from "react";
import { useHasScope } from "../api/login.ts";
import { createPackageSource } from "../api/packages.ts";
import { useSource } from "../api/source.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { Link } from "../frame/link.tsx";
import { buildPackagePath, buildPath } from "../frame/navigation.ts";
import { Button } from "../parts/button.tsx";
import { DateTime } from "../parts/date-time.tsx";
import { DescriptionList } from "../parts/description-list.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import "../styles/packages.css";
import { MissingView } from "../views/missing.tsx";
import { CapabilityChips } from "./capability-chips.tsx";
import { DeletePackage } from "./delete-package.tsx";
import { formatAgentCount } from "./package-table.tsx";
import { RollBack } from "./roll-back.tsx";
import { ToolSummaries } from "./tool-summaries.tsx";
import { VersionList } from "./version-list.tsx";

/** A package: what it may use, the agents that run it, and its versions. */
export function PackageView({ agency, name }: { agency: Agency; name: string }) {
  const source = useMemo(() => createPackageSource(agency.id, name), [agency.id, name]);
  const { value, error } = useSource(source);
  const canManage = useHasScope("admin", agency.id);
  const [dialog, setDialog] = useState<"delete" | PackageVersion>();
  const close = () => setDialog(undefined);

  if (isThinkeryError(error) && (error.code === "not_found" || error.code === "bad_request"))
    return <MissingView title={`Package “${name}” not found in ${agency.name}`} />;
  return (
    <article className="view">
      <header className="view-head">
        <div>
          <p className="kicker">
            <Link href={buildPackagePath(agency.id)}>Packages</Link> of {agency.name}
          </p>
          <h1>{sanitizeText(value?.displayName ?? name)}</h1>
          {value?.description && <p className="lead package-description">{sanitizeText(value.description)}</p>}
        </div>
        {canManage && value && (
          <div className="actions">
            <Button onClick={() => setDialog("delete")}>
              <Icon name="trash" /> Delete
            </Button>
          </div>
        )}
      </header>
      {error && (
        <Notice tone={value ? "warn" : "bad"} title="Failed to load the package" onRetry={() => void source.reload()}>
          {error.message}
        </Notice>
      )}
      {!value && !error && <p className="faint">Loading…</p>}
      {value && (
        <>
          <DescriptionList of={listFacts(value)} />
          <Agents agency={agency.id} agents={value.agents} />
          <ToolSection tools={value.tools} />
          <section aria-labelledby="versions">
            <div className="section-head">
              <h2 id="versions">
                Versions <span className="count">{value.versions.length}</span>
              </h2>
            </div>
            <VersionList name={name} versions={value.versions} onRollBack={canManage ? setDialog : undefined} />
          </section>
        </>
      )}
      {value && dialog === "delete" && <DeletePackage agency={agency.id} item={value} onClose={close} />}
      {value && dialog !== undefined && dialog !== "delete" && (
        <RollBack
          agency={agency.id}
          item={value}
          target={dialog.version}
          onRolledBack={() => source.reload()}
          onClose={close}
        />
      )}
    </article>
  );
}

function listFacts({ name, version, capabilities, settings, deployedAt, deployedBy }: Package) {
  const labels = Object.entries(settings).map(([key, { label }]) => sanitizeText(label ?? key));
  return [
    ["Name", <span className="mono">{name}</span>],
    ["Version", version],
    [
      "Deployed",
      <>
        <DateTime at={deployedAt} /> by {sanitizeText(deployedBy)}
      </>,
    ],
    ["May use", <CapabilityChips capabilities={capabilities} />],
    ["Settings", labels.length > 0 ? labels.join(", ") : "none"],
  ] satisfies (readonly [string, ReactNode])[];
}

function Agents({ agency, agents }: { agency: string; agents: readonly string[] }) {
  return (
    <section aria-labelledby="package-agents">
      <div className="section-head">
        <h2 id="package-agents">
          Agents <span className="count">{formatAgentCount(agents)}</span>
        </h2>
      </div>
      {agents.length === 0 ? (
        <p className="faint">No agent runs it.</p>
      ) : (
        <ul className="badges">
          {agents.map((agent) => (
            <li key={agent} className="badge">
              <Link href={buildPath(agency, agent)}>{agent}</Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function ToolSection({ tools }: Pick<Package, "tools">) {
  return (
    <section aria-labelledby="package-tools">
      <div className="section-head">
        <h2 id="package-tools">
          Tools <span className="count">{tools.length}</span>
        </h2>
      </div>
      {tools.length === 0 ? (
        <p className="faint">It offers no tools to other agents.</p>
      ) : (
        <ToolSummaries tools={tools} />
      )}
    </section>
  );
}

import type { Agency } from "@thinkery/sdk";
import { useMemo } from "react";
import { createPackagesSource } from "../api/packages.ts";
import { useSource } from "../api/source.ts";
import { Notice } from "../parts/notice.tsx";
import "../styles/packages.css";
import { NoPackages } from "./no-packages.tsx";
import { PackageTable } from "./package-table.tsx";

/** The packages of an agency: code from which agents are made. */
export function PackagesView({ agency }: { agency: Agency }) {
  const source = useMemo(() => createPackagesSource(agency.id), [agency.id]);
  const { value, error } = useSource(source);
  return (
    <article className="view">
      <header className="view-head">
        <div>
          <p className="kicker">Agency {agency.name}</p>
          <h1>Packages</h1>
          <p className="lead">Agents written in code. Each version that is deployed replaces the one before it.</p>
        </div>
      </header>
      {error && (
        <Notice tone={value ? "warn" : "bad"} title="Failed to load the packages" onRetry={() => void source.reload()}>
          {error.message}
        </Notice>
      )}
      {!value && !error && <p className="faint">Loading…</p>}
      {value?.items.length === 0 && <NoPackages agency={agency.id} />}
      {value && value.items.length > 0 && <PackageTable agency={agency.id} packages={value} />}
    </article>
  );
}

import type { PackageVersion } from "@thinkery/sdk";
import { useEffect, useMemo } from "react";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { announce } from "../frame/announce.tsx";
import { formatBytes } from "../parts/amount.ts";
import { Button } from "../parts/button.tsx";
import { DateTime } from "../parts/date-time.tsx";
import { Icon } from "../parts/icon.tsx";
import { CapabilityChips } from "./capability-chips.tsx";
import { compareVersions } from "./compare-versions.ts";
import { useNewKeys } from "./use-new-keys.ts";

interface VersionListProps {
  /** Name of the package. */
  name: string;
  versions: readonly PackageVersion[];
  /** Undefined for people who may only look. */
  onRollBack: ((version: PackageVersion) => void) | undefined;
}

const shownHashChars = 12;

/** The versions of a package, newest first. One that was just deployed stands out for a moment. */
export function VersionList({ name, versions, onRollBack }: VersionListProps) {
  const added = useNewKeys(useMemo(() => versions.map(({ version }) => String(version)), [versions]));
  const [latest] = versions;
  const isLatestNew = latest !== undefined && added.has(String(latest.version));
  useEffect(() => {
    if (isLatestNew) announce(`Version ${latest.version} of ${name} deployed.`);
  }, [isLatestNew, latest?.version, name]);

  return (
    <ol className="package-versions">
      {versions.map((version, index) => {
        const { since, added: addedCapabilities, removed } = compareVersions(versions, index);
        const isNew = added.has(String(version.version));
        return (
          <li
            key={version.version}
            data-version={version.version}
            data-current={version.isCurrent || undefined}
            data-new={isNew || undefined}
          >
            <div className="package-version-head">
              <h3>Version {version.version}</h3>
              {version.isCurrent && <span className="badge">current</span>}
              {isNew && <span className="badge">new</span>}
              <span className="faint">
                <DateTime at={version.deployedAt} /> by {sanitizeText(version.deployedBy)}
              </span>
              {onRollBack && !version.isCurrent && (
                <Button kind="quiet" onClick={() => onRollBack(version)}>
                  <Icon name="undo" /> Roll back to version {version.version}
                </Button>
              )}
            </div>
            <p className="package-version-facts">
              <span className="mono" title={version.hash}>
                {version.hash.slice(0, shownHashChars)}
              </span>{" "}
              · {formatBytes(version.bytes)}
            </p>
            <CapabilityChips capabilities={version.capabilities} added={addedCapabilities} />
            {addedCapabilities.length > 0 && (
              <p className="warn-text">
                Asked for more than version {since}: {addedCapabilities.join(", ")}
              </p>
            )}
            {removed.length > 0 && <p className="faint">No longer asked for: {removed.join(", ")}</p>}
          </li>
        );
      })}
    </ol>
  );
}

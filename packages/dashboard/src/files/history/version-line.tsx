import type { Version } from "@thinkery/sdk";
import { Link } from "../../frame/link.tsx";
import { DateTime } from "../../parts/date-time.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useWorkspace } from "../open-workspace.tsx";
import { summarizeVersion, getAuthorLabel } from "./version-text.ts";

/** One version in a list: author, changes and time. */
export function VersionLine({ version, path }: { version: Version; path: string | undefined }) {
  const { to, user, agent } = useWorkspace();
  const { id, at, origin } = version;
  return (
    <li>
      <Link
        className="version-line"
        href={to({ show: "history", version: id, ...(path === undefined ? {} : { path }) })}
        data-version={id}
      >
        <AuthorIcon kind={origin.kind} />
        <span className="version-summary">
          <strong>{getAuthorLabel(origin, user, agent)}</strong> {summarizeVersion(version)}
        </span>
        <span className="version-meta">
          {origin.tool && <span className="mono">{origin.tool}</span>}
          <DateTime at={at} short />
          <span className="version-number">{id}</span>
        </span>
      </Link>
    </li>
  );
}

export function AuthorIcon({ kind }: { kind: "user" | "agent" }) {
  return (
    <span className="author-icon" data-by={kind}>
      <Icon name={kind === "agent" ? "agent" : "person"} />
    </span>
  );
}

import type { VersionDiff } from "@thinkery/sdk";
import { useEffect, useMemo, useState } from "react";
import { createSource, useSource } from "../../api/source.ts";
import { getWorkspaceCalls } from "../../api/workspace.ts";
import { Link } from "../../frame/link.tsx";
import { Button } from "../../parts/button.tsx";
import { DateTime } from "../../parts/date-time.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Notice } from "../../parts/notice.tsx";
import { useWorkspace } from "../open-workspace.tsx";
import { DiffView } from "./diff-view.tsx";
import { RevertDialog, type Target } from "./revert-dialog.tsx";
import { AuthorIcon } from "./version-line.tsx";
import { summarizeVersion, getAuthorLabel } from "./version-text.ts";

/** One version: its author and diffs, with a way to revert it. */
export function VersionView({ id, path }: { id: number; path: string | undefined }) {
  const workspace = useWorkspace();
  const { agency, agent, lastChanged, to } = workspace;
  const source = useMemo(
    () => createSource(() => getWorkspaceCalls({ agency, agent }).getVersion(id, path)),
    [agency, agent, id, path],
  );
  const { value, error } = useSource(source);
  const { at } = useSource(workspace.latest);
  // A version that is still being typed keeps growing.
  useEffect(() => {
    if (at) void source.reload();
  }, [source, at, lastChanged]);

  return (
    <div className="version-view">
      <p>
        <Link className="version-back" href={to({ show: "history", ...(path === undefined ? {} : { path }) })}>
          <Icon name="back" /> All versions
        </Link>
      </p>
      {error && !value && (
        <Notice tone="bad" title={`Failed to load version ${id}`} onRetry={() => void source.reload()}>
          {error.message}
        </Notice>
      )}
      {!error && !value && <p className="pane-note">Loading…</p>}
      {value && <VersionDetails version={value} path={path} />}
    </div>
  );
}

function VersionDetails({ version, path }: { version: VersionDiff; path: string | undefined }) {
  const { user, agent, noun, canWrite, to } = useWorkspace();
  const [reverting, setReverting] = useState<Target>();
  const { id, at, origin, diffs, truncated } = version;
  const others = path === undefined ? 0 : version.changes.length + (version.more ?? 0) - diffs.length;
  return (
    <>
      <header className="version-head">
        <AuthorIcon kind={origin.kind} />
        <div>
          <h3>
            {getAuthorLabel(origin, user, agent)} {summarizeVersion(version)}
          </h3>
          <p className="faint">
            Version {id} · <DateTime at={at} />
            {origin.tool && (
              <>
                {" "}
                · by <span className="mono">{origin.tool}</span>
              </>
            )}
          </p>
        </div>
        {canWrite && (
          <div className="version-actions">
            <Button onClick={() => setReverting({ version: id })}>
              <Icon name="undo" /> Revert this version
            </Button>
            {origin.turn !== undefined && (
              <Button onClick={() => setReverting({ turn: origin.turn ?? "" })}>Revert the whole turn</Button>
            )}
          </div>
        )}
      </header>
      {diffs.map((diff) => (
        <DiffView key={`${diff.kind} ${diff.path}`} diff={diff} version={id} />
      ))}
      {others > 0 && (
        <p className="pane-note">
          This version changed other {noun}s, too. <Link href={to({ show: "history", version: id })}>Show all</Link>
        </p>
      )}
      {truncated && (
        <p className="pane-note">Some changes are not shown. Select a {noun} in the tree to see its history.</p>
      )}
      {reverting && <RevertDialog target={reverting} onClose={() => setReverting(undefined)} />}
    </>
  );
}

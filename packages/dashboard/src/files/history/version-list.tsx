import type { Version } from "@thinkery/sdk";
import { useEffect, useState } from "react";
import { versionsOf } from "../../api/files.ts";
import { useSource } from "../../api/source.ts";
import { Button } from "../../parts/button.tsx";
import { Notice } from "../../parts/notice.tsx";
import { useWorkspace } from "../open-workspace.tsx";
import { VersionLine } from "./version-line.tsx";

interface Read {
  versions: Version[];
  next?: number | undefined;
  oldest?: number | undefined;
  error?: Error;
}

/** The versions of a file, a folder or everything, newest first. New ones come in by themselves. */
export function VersionList({ path }: { path: string | undefined }) {
  const workspace = useWorkspace();
  const { agency, agent, branch } = workspace;
  const { at } = useSource(workspace.latest);
  const [read, setRead] = useState<Read>();
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    let gone = false;
    versionsOf({ agency, agent, branch }, { path }).then(
      (page) => !gone && setRead((before) => joined(page, before)),
      (error: Error) => !gone && setRead((before) => ({ versions: [], ...before, error })),
    );
    return () => void (gone = true);
  }, [agency, agent, branch, path, at]);

  const older = async () => {
    setBusy(true);
    try {
      const page = await versionsOf(workspace, { path, before: read?.next });
      setRead((before) => before && { ...page, versions: [...before.versions, ...page.versions] });
    } catch (error) {
      setRead((before) => before && { ...before, error: error as Error });
    } finally {
      setBusy(false);
    }
  };

  if (!read) return <p className="pane-note">Loading…</p>;
  const { versions, next, oldest, error } = read;
  return (
    <div className="versions">
      {error && (
        <Notice tone="bad" title="The history could not be loaded.">
          {error.message}
        </Notice>
      )}
      {versions.length === 0 && !error && <p className="pane-note">Nothing was changed here yet.</p>}
      <ol className="version-list" aria-label="Versions, newest first">
        {versions.map((version) => (
          <VersionLine key={version.id} version={version} path={path} />
        ))}
      </ol>
      {next !== undefined && (
        <Button kind="quiet" busy={busy} onClick={() => void older()}>
          Show older versions
        </Button>
      )}
      {next === undefined && oldest !== undefined && <p className="pane-note">Versions before {oldest} were dropped: the host is set to keep them only for so long.</p>}
    </div>
  );
}

/** The newest page takes the place of what it covers; what was loaded behind it stays. */
function joined(page: Read, before: Read | undefined): Read {
  const last = page.versions.at(-1)?.id;
  const behind = last === undefined || page.next === undefined ? [] : (before?.versions.filter(({ id }) => id < last) ?? []);
  return behind.length === 0 ? page : { ...page, versions: [...page.versions, ...behind], next: before?.next };
}

import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { listVersions } from "../../api/files.ts";
import { useSource } from "../../api/source.ts";
import { getWorkspaceKey } from "../../api/workspace.ts";
import { Button } from "../../parts/button.tsx";
import { Notice } from "../../parts/notice.tsx";
import { useWorkspace } from "../open-workspace.tsx";
import { mergePages, rememberPosition, recallPosition } from "./loaded-versions.ts";
import { VersionLine } from "./version-line.tsx";

/** The versions of a file, a folder or the whole workspace, newest first. Updates live. */
export function VersionList({ path }: { path: string | undefined }) {
  const workspace = useWorkspace();
  const { agency, agent, branch } = workspace;
  const { at } = useSource(workspace.latest);
  const key = [getWorkspaceKey(workspace), branch ?? "", path ?? ""].join("\0");
  const [loaded, setLoaded] = useState(() => recallPosition(key)?.loaded);
  const list = useRef<HTMLDivElement>(null);
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    let stale = false;
    listVersions({ agency, agent, branch }, { path }).then(
      (page) => !stale && setLoaded((previous) => mergePages(page, previous)),
      (error: Error) => !stale && setLoaded((previous) => ({ versions: [], ...previous, error })),
    );
    return () => void (stale = true);
  }, [agency, agent, branch, path, at]);

  useLayoutEffect(() => {
    const scroll = list.current?.closest(".pane-scroll");
    if (scroll) scroll.scrollTop = recallPosition(key)?.scrollTop ?? 0;
  }, [key]);
  const onLeave = () => {
    const scroll = list.current?.closest(".pane-scroll");
    if (loaded && scroll) rememberPosition({ key, loaded, scrollTop: scroll.scrollTop });
  };

  const loadOlder = async () => {
    setBusy(true);
    try {
      const page = await listVersions(workspace, { path, before: loaded?.next });
      setLoaded((previous) => previous && { ...page, versions: [...previous.versions, ...page.versions] });
    } catch (error) {
      setLoaded((previous) => previous && { ...previous, error: error as Error });
    } finally {
      setBusy(false);
    }
  };

  if (!loaded) return <p className="pane-note">Loading…</p>;
  const { versions, next, oldest, error } = loaded;
  return (
    <div className="versions" ref={list} onClickCapture={onLeave}>
      {error && (
        <Notice tone="bad" title="Failed to load history">
          {error.message}
        </Notice>
      )}
      {versions.length === 0 && !error && <p className="pane-note">No changes yet</p>}
      <ol className="version-list" aria-label="Versions, newest first">
        {versions.map((version) => (
          <VersionLine key={version.id} version={version} path={path} />
        ))}
      </ol>
      {next !== undefined && (
        <Button kind="quiet" busy={busy} onClick={() => void loadOlder()}>
          Show older versions
        </Button>
      )}
      {next === undefined && oldest !== undefined && (
        <p className="pane-note">Versions before {oldest} were removed by the host’s retention setting.</p>
      )}
    </div>
  );
}

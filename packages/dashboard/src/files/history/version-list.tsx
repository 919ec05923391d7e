import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { listVersions } from "../../api/files.ts";
import { useSource } from "../../api/source.ts";
import { Button } from "../../parts/button.tsx";
import { Notice } from "../../parts/notice.tsx";
import { useWorkspace } from "../open-workspace.tsx";
import { mergePages, rememberPosition, recallPosition } from "./loaded-versions.ts";
import { VersionLine } from "./version-line.tsx";

/** The versions of a file, a folder or everything, newest first. New ones come in by themselves. */
export function VersionList({ path }: { path: string | undefined }) {
  const workspace = useWorkspace();
  const { agency, agent, branch } = workspace;
  const { at } = useSource(workspace.latest);
  const place = [agency, agent, branch ?? "", path ?? ""].join("\0");
  const [read, setRead] = useState(() => recallPosition(place)?.read);
  const list = useRef<HTMLDivElement>(null);
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    let gone = false;
    listVersions({ agency, agent, branch }, { path }).then(
      (page) => !gone && setRead((before) => mergePages(page, before)),
      (error: Error) => !gone && setRead((before) => ({ versions: [], ...before, error })),
    );
    return () => void (gone = true);
  }, [agency, agent, branch, path, at]);

  useLayoutEffect(() => {
    const scroll = list.current?.closest(".pane-scroll");
    if (scroll) scroll.scrollTop = recallPosition(place)?.top ?? 0;
  }, [place]);
  const onLeave = () => {
    const scroll = list.current?.closest(".pane-scroll");
    if (read && scroll) rememberPosition({ place, read, top: scroll.scrollTop });
  };

  const loadOlder = async () => {
    setBusy(true);
    try {
      const page = await listVersions(workspace, { path, before: read?.next });
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
    <div className="versions" ref={list} onClickCapture={onLeave}>
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
        <Button kind="quiet" busy={busy} onClick={() => void loadOlder()}>
          Show older versions
        </Button>
      )}
      {next === undefined && oldest !== undefined && (
        <p className="pane-note">
          Versions before {oldest} were dropped: the host is set to keep them only for so long.
        </p>
      )}
    </div>
  );
}

import { type FileInfo, findPathIssue } from "@thinkery/sdk";
import { useRef } from "react";
import type { Listing } from "../api/files.ts";
import type { FilesPlace } from "../frame/files-place.ts";
import { Link } from "../frame/link.tsx";
import { FilePane, OldFilePane } from "./file-pane.tsx";
import { FolderPane } from "./folder-pane.tsx";
import { HistoryPane } from "./history/history-pane.tsx";
import { VersionList } from "./history/version-list.tsx";
import { useWorkspace } from "./open-workspace.tsx";
import { PaneHead } from "./pane-head.tsx";

/** What is looked at: a file, a folder, the history, or what happened lately. */
export function Pane({ listing: { files, more }, place }: { listing: Listing; place: FilesPlace }) {
  const { path, version, line, show } = place;
  const last = useRef<FileInfo>(undefined);
  if (show === "history") return <HistoryPane place={place} />;
  if (path === undefined) return <RecentChanges />;
  if (findPathIssue(path)) return <MissingFile path={path} more={false} />;
  if (version !== undefined) return <OldFilePane place={place} path={path} />;
  const present = files.find((one) => one.path === path);
  if (present) last.current = present;
  // Who has a file open is told that it is gone, and may look at it for as long as they like.
  const file = last.current?.path === path ? last.current : undefined;
  if (file) return <FilePane file={file} line={line} gone={!present} />;
  const inside = files.filter((one) => one.path.startsWith(`${path}/`));
  if (inside.length > 0) return <FolderPane path={path} files={inside} />;
  return <MissingFile path={path} more={more} />;
}

function RecentChanges() {
  return (
    <>
      <PaneHead path={undefined} note="what changed lately" />
      <div className="pane-scroll">
        <VersionList path={undefined} />
      </div>
    </>
  );
}

function MissingFile({ path, more }: { path: string; more: boolean }) {
  const { to } = useWorkspace();
  return (
    <>
      <PaneHead path={path} />
      <div className="pane-scroll">
        <p>
          {more ? "This file is not in the list." : "There is no such file now."}{" "}
          <Link href={to({ show: "history", path })}>Its history</Link> says what became of it, if it ever was.
        </p>
      </div>
    </>
  );
}

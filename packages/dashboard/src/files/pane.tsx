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

/** Shows a file, a folder, the history or the recent changes. */
export function Pane({ listing: { files, more }, place }: { listing: Listing; place: FilesPlace }) {
  const { path, version, line, show } = place;
  const last = useRef<FileInfo>(undefined);
  if (show === "history") return <HistoryPane place={place} />;
  if (path === undefined) return <RecentChanges />;
  if (findPathIssue(path)) return <MissingFile path={path} more={false} />;
  if (version !== undefined) return <OldFilePane place={place} path={path} />;
  const present = files.find((candidate) => candidate.path === path);
  if (present) last.current = present;
  // A file that is deleted while open stays visible, with a notice.
  const file = last.current?.path === path ? last.current : undefined;
  if (file) return <FilePane file={file} line={line} isGone={!present} />;
  const contents = files.filter((candidate) => candidate.path.startsWith(`${path}/`));
  if (contents.length > 0) return <FolderPane path={path} files={contents} />;
  return <MissingFile path={path} more={more} />;
}

function RecentChanges() {
  return (
    <>
      <PaneHead path={undefined} note="recent changes" />
      <div className="pane-scroll">
        <VersionList path={undefined} />
      </div>
    </>
  );
}

function MissingFile({ path, more }: { path: string; more: boolean }) {
  const { to, noun } = useWorkspace();
  return (
    <>
      <PaneHead path={path} />
      <div className="pane-scroll">
        <p>
          {more ? `This ${noun} is not in the list.` : `There is no such ${noun}.`} Its{" "}
          <Link href={to({ show: "history", path })}>history</Link> shows whether it was deleted or moved.
        </p>
      </div>
    </>
  );
}

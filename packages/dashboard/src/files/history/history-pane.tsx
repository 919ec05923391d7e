import type { FilesPlace } from "../../frame/files-place.ts";
import { Link } from "../../frame/link.tsx";
import { useWorkspace } from "../open-workspace.tsx";
import { PaneHead } from "../pane-head.tsx";
import { VersionList } from "./version-list.tsx";
import { VersionView } from "./version-view.tsx";

/** The history of a file, a folder or the whole workspace. */
export function HistoryPane({ place: { path, version } }: { place: FilesPlace }) {
  const { to } = useWorkspace();
  return (
    <>
      <PaneHead path={path} note="history" show="history">
        {path !== undefined && (
          <Link className="button" href={to({ show: "files", path })}>
            Current version
          </Link>
        )}
      </PaneHead>
      <div className="pane-scroll">
        {version === undefined ? (
          <VersionList key={path} path={path} />
        ) : (
          <VersionView key={version} id={version} path={path} />
        )}
      </div>
    </>
  );
}

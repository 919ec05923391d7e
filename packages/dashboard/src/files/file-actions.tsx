import { useState } from "react";
import { buildArchiveUrl, buildFileUrl } from "../api/files.ts";
import { Link } from "../frame/link.tsx";
import { HostLink } from "../parts/host-link.tsx";
import { Icon } from "../parts/icon.tsx";
import { Delete, Move, NewFile } from "./file-dialogs.tsx";
import { useWorkspace } from "./open-workspace.tsx";

interface FileActionsProps {
  path: string;
  /** The files in the folder; undefined for a file. */
  contents?: readonly string[];
}

/** Actions for the open file or folder. */
export function FileActions({ path, contents }: FileActionsProps) {
  const workspace = useWorkspace();
  const [dialog, setDialog] = useState<"new" | "move" | "delete">();
  const close = () => setDialog(undefined);
  const dialogProps = { path, ...(contents ? { contents } : {}), onClose: close };
  return (
    <>
      {contents && workspace.canWrite && (
        <button
          type="button"
          className="icon-button"
          aria-label={`New ${workspace.noun} here`}
          title={`New ${workspace.noun} here`}
          onClick={() => setDialog("new")}
        >
          <Icon name="plus" />
        </button>
      )}
      <Link
        className="icon-button"
        href={workspace.to({ show: "history", path })}
        aria-label={`History of ${path}`}
        title="History"
      >
        <Icon name="history" />
      </Link>
      {/* Documents have no archives. */}
      {(!contents || workspace.agent !== undefined) && (
        <HostLink
          className="icon-button"
          href={contents ? buildArchiveUrl(workspace, path) : buildFileUrl(workspace, path, { download: true })}
          aria-label={contents ? `Download ${path} as zip` : `Download ${path}`}
          title={contents ? "Download as zip" : "Download"}
        >
          <Icon name="download" />
        </HostLink>
      )}
      {workspace.canWrite && (
        <>
          <button
            type="button"
            className="icon-button"
            aria-label={`Rename or move ${path}`}
            title="Rename or move"
            onClick={() => setDialog("move")}
          >
            <Icon name="pencil" />
          </button>
          <button
            type="button"
            className="icon-button"
            aria-label={`Delete ${path}`}
            title="Delete"
            onClick={() => setDialog("delete")}
          >
            <Icon name="trash" />
          </button>
        </>
      )}
      {dialog === "new" && <NewFile folder={path} onClose={close} />}
      {dialog === "move" && <Move {...dialogProps} />}
      {dialog === "delete" && <Delete {...dialogProps} />}
    </>
  );
}

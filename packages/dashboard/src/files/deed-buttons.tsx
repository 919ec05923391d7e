import { useState } from "react";
import { archiveAddress, fileAddress } from "../api/files.ts";
import { Link } from "../frame/link.tsx";
import { Icon } from "../parts/icon.tsx";
import { Delete, Move, NewFile } from "./deeds.tsx";
import { useWorkspace } from "./open-workspace.tsx";

interface DeedProps {
  path: string;
  /** The files in it, where it is a folder. */
  inside?: readonly string[];
}

/** What can be done with the file or folder that is open. */
export function DeedButtons({ path, inside }: DeedProps) {
  const workspace = useWorkspace();
  const [dialog, setDialog] = useState<"new" | "move" | "delete">();
  const close = () => setDialog(undefined);
  const deed = { path, ...(inside ? { inside } : {}), onClose: close };
  return (
    <>
      {inside && workspace.mayWrite && (
        <button type="button" className="icon-button" aria-label="New file here" title="New file here" onClick={() => setDialog("new")}>
          <Icon name="plus" />
        </button>
      )}
      <Link className="icon-button" href={workspace.to({ show: "history", path })} aria-label={`History of ${path}`} title="History">
        <Icon name="history" />
      </Link>
      <a
        className="icon-button"
        href={inside ? archiveAddress(workspace, path) : fileAddress(workspace, path, { download: true })}
        download
        aria-label={inside ? `Download ${path} as a zip` : `Download ${path}`}
        title={inside ? "Download as a zip" : "Download"}
      >
        <Icon name="download" />
      </a>
      {workspace.mayWrite && (
        <>
          <button type="button" className="icon-button" aria-label={`Rename or move ${path}`} title="Rename or move" onClick={() => setDialog("move")}>
            <Icon name="pencil" />
          </button>
          <button type="button" className="icon-button" aria-label={`Delete ${path}`} title="Delete" onClick={() => setDialog("delete")}>
            <Icon name="trash" />
          </button>
        </>
      )}
      {dialog === "new" && <NewFile folder={path} onClose={close} />}
      {dialog === "move" && <Move {...deed} />}
      {dialog === "delete" && <Delete {...deed} />}
    </>
  );
}

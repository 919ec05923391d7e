import { listParentFolders } from "@thinkery/sdk";
import { Fragment, type ReactNode } from "react";
import { Link } from "../frame/link.tsx";
import { Icon } from "../parts/icon.tsx";
import { useWorkspace } from "./open-workspace.tsx";
import { getFileName } from "./tree/rows.ts";

interface PaneHeadProps {
  /** Nothing for the whole workspace. */
  path: string | undefined;
  /** What is said behind the name. */
  note?: ReactNode;
  show?: "files" | "history";
  children?: ReactNode;
}

/** Where we are, with a way to the folders above it, and what can be done here. */
export function PaneHead({ path, note, show = "files", children }: PaneHeadProps) {
  const { to, branch } = useWorkspace();
  // The history of a file was come to from the file.
  const back = path !== undefined && show === "history" ? path : undefined;
  return (
    <header className="pane-head">
      <Link
        className="icon-button pane-back"
        href={to({ show: "files", ...(back === undefined ? {} : { path: back }) })}
        aria-label={back === undefined ? "Back to all files" : `Back to ${back}`}
        title="Back"
      >
        <Icon name="back" />
      </Link>
      <h2 className="crumbs">
        {path === undefined ? (
          "All files"
        ) : (
          <>
            {shortenFolders(listParentFolders(path)).map(({ folder, name }) => (
              <Fragment key={folder}>
                <Link href={to({ show, path: folder })} title={folder}>
                  {name}
                </Link>
                <span aria-hidden="true">/</span>
              </Fragment>
            ))}
            <span className="crumb-name">{getFileName(path)}</span>
          </>
        )}
        {note && <span className="crumb-note">{note}</span>}
        {branch !== undefined && <span className="crumb-note crumb-branch">on the branch {branch}</span>}
      </h2>
      <div className="pane-deeds">{children}</div>
    </header>
  );
}

/** The outermost folder and the two nearest have their names; one link stands for those between them. */
function shortenFolders(folders: readonly string[]): { folder: string; name: string }[] {
  const toCrumb = (folder: string) => ({ folder, name: getFileName(folder) });
  if (folders.length <= 4) return folders.map(toCrumb);
  const [first, ...rest] = folders;
  const hidden = rest.at(-3) as string;
  return [toCrumb(first as string), { folder: hidden, name: "…" }, ...rest.slice(-2).map(toCrumb)];
}

import { listParentFolders } from "@thinkery/sdk";
import { Fragment, type ReactNode } from "react";
import { Link } from "../frame/link.tsx";
import { Icon } from "../parts/icon.tsx";
import { useWorkspace } from "./open-workspace.tsx";
import { getFileName } from "./tree/rows.ts";

interface PaneHeadProps {
  /** Undefined for the whole workspace. */
  path: string | undefined;
  /** Shown after the name. */
  note?: ReactNode;
  show?: "files" | "history";
  children?: ReactNode;
}

/** Breadcrumbs of the current file or folder, with its actions. */
export function PaneHead({ path, note, show = "files", children }: PaneHeadProps) {
  const { to, branch, noun } = useWorkspace();
  // From the history of a file, go back to the file.
  const back = path !== undefined && show === "history" ? path : undefined;
  return (
    <header className="pane-head">
      <Link
        className="icon-button pane-back"
        href={to({ show: "files", ...(back === undefined ? {} : { path: back }) })}
        aria-label={back === undefined ? `Back to all ${noun}s` : `Back to ${back}`}
        title="Back"
      >
        <Icon name="back" />
      </Link>
      <h2 className="crumbs">
        {path === undefined ? (
          `All ${noun}s`
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
        {branch !== undefined && <span className="crumb-note crumb-branch">on branch {branch}</span>}
      </h2>
      <div className="pane-actions">{children}</div>
    </header>
  );
}

/** Keeps the outermost and the two nearest folders; one link stands for those in between. */
function shortenFolders(folders: readonly string[]): { folder: string; name: string }[] {
  const toCrumb = (folder: string) => ({ folder, name: getFileName(folder) });
  if (folders.length <= 4) return folders.map(toCrumb);
  const [first, ...rest] = folders;
  const hidden = rest.at(-3) as string;
  return [toCrumb(first as string), { folder: hidden, name: "…" }, ...rest.slice(-2).map(toCrumb)];
}

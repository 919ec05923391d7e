import { Fragment, type ReactNode } from "react";
import { Link } from "../frame/link.tsx";
import { Icon } from "../parts/icon.tsx";
import { useWorkspace } from "./open-workspace.tsx";
import { folderOf, foldersTo, nameOf } from "./tree/rows.ts";

interface PaneHeadProps {
  /** Nothing for the whole workspace. */
  path: string | undefined;
  /** What is said behind the name. */
  note?: ReactNode;
  show?: "files" | "history";
  children?: ReactNode;
}

/** Where we are, with a way to every folder above it, and what can be done here. */
export function PaneHead({ path, note, show = "files", children }: PaneHeadProps) {
  const { to } = useWorkspace();
  const above = path === undefined ? undefined : folderOf(path);
  return (
    <header className="pane-head">
      <Link className="icon-button pane-back" href={to({ show: "files", ...(above === undefined || show === "history" ? {} : { path: above }) })} aria-label="Back to the files" title="Back">
        <Icon name="back" />
      </Link>
      <h2 className="crumbs">
        {path === undefined ? (
          "All files"
        ) : (
          <>
            {foldersTo(path).map((folder) => (
              <Fragment key={folder}>
                <Link href={to({ show, path: folder })}>{nameOf(folder)}</Link>
                <span aria-hidden="true">/</span>
              </Fragment>
            ))}
            <span className="crumb-name">{nameOf(path)}</span>
          </>
        )}
        {note && <span className="crumb-note">{note}</span>}
      </h2>
      <div className="pane-deeds">{children}</div>
    </header>
  );
}

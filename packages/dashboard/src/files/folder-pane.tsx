import type { FileInfo } from "@thinkery/sdk";
import { Link } from "../frame/link.tsx";
import { formatBytes, formatCount } from "../parts/amount.ts";
import { DateTime } from "../parts/date-time.tsx";
import { Icon } from "../parts/icon.tsx";
import { FileActions } from "./file-actions.tsx";
import { useWorkspace } from "./open-workspace.tsx";
import { PaneHead } from "./pane-head.tsx";
import { listRows, buildTree } from "./tree/rows.ts";

/** The contents of a folder, with actions for it. */
export function FolderPane({ path, files }: { path: string; files: readonly FileInfo[] }) {
  const { to, noun } = useWorkspace();
  // Paths relative to the folder.
  const relativeFiles = files.map((file) => ({ ...file, path: file.path.slice(path.length + 1) }));
  const rows = listRows(buildTree(relativeFiles), () => false);
  const size = files.reduce((sum, file) => sum + file.size, 0);
  return (
    <>
      <PaneHead path={path} note={`${formatCount(files.length, noun)}, ${formatBytes(size)}`}>
        <FileActions path={path} contents={files.map((file) => file.path)} />
      </PaneHead>
      <ul className="folder-list">
        {rows.map((row) => (
          <li key={row.path}>
            <Link href={to({ show: "files", path: `${path}/${row.path}` })}>
              <Icon name={row.file ? "file" : "folder"} />
              <span className="file-name">{row.name}</span>
              <span className="faint">{row.file ? formatBytes(row.size) : formatCount(row.count, noun)}</span>
              <span className="faint folder-date">{row.file && <DateTime at={row.file.modifiedAt} short />}</span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

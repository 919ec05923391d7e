import { type FileInfo, listParentFolders } from "@thinkery/sdk";
import { memo, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "../../api/store.ts";
import { Link } from "../../frame/link.tsx";
import { formatBytes, formatCount } from "../../parts/amount.ts";
import { formatAgo } from "../../parts/duration.ts";
import { Icon } from "../../parts/icon.tsx";
import { type OpenWorkspace, useWorkspace } from "../open-workspace.tsx";
import type { Mark } from "./marks.ts";
import { setFoldersOpen, getFoldStore } from "./open-folders.ts";
import { type Row, listRows, buildTree } from "./rows.ts";
import { moveAmongRows } from "./tree-keys.ts";

interface FileTreeProps {
  files: readonly FileInfo[];
  /** Only a part of them, which was looked for: then all folders are open. */
  filtered: boolean;
  here: string | undefined;
  marks: ReadonlyMap<string, Mark>;
}

/** So few files are all shown at once. */
const maxFilesExpanded = 60;
const maxRows = 2000;

export function FileTree({ files, filtered, here, marks }: FileTreeProps) {
  const { agency, agent, to } = useWorkspace();
  const store = getFoldStore(agency, agent);
  const folds = useStore(store);
  const frame = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<string>();

  useEffect(() => {
    if (here !== undefined) setFoldersOpen(store, listParentFolders(here), true);
  }, [store, here]);

  const tree = useMemo(() => buildTree(files), [files]);
  const all = useMemo(
    () => listRows(tree, (path) => filtered || (folds.get(path) ?? files.length <= maxFilesExpanded)),
    [tree, filtered, folds, files],
  );
  const rows = useMemo(() => all.slice(0, maxRows), [all]);
  const stop = [focused, here].find((path) => rows.some((row) => row.path === path)) ?? rows[0]?.path;

  const findRow = (path: string) => frame.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`);
  const focus = (path: string) => {
    setFocused(path);
    findRow(path)?.focus();
  };
  // Of what is looked for, all is shown.
  const toggle = useCallback(
    (path: string, open: boolean) => void (filtered || setFoldersOpen(store, [path], open)),
    [store, filtered],
  );

  // Where a link led to is shown, as soon as its folders are open.
  const isShown = here !== undefined && rows.some(({ path }) => path === here);
  useEffect(() => {
    if (isShown) findRow(here)?.scrollIntoView({ block: "nearest" });
  }, [here, isShown]);

  return (
    <div
      ref={frame}
      className="file-tree"
      role="tree"
      aria-label="Files"
      onKeyDown={(event) => moveAmongRows(event, rows, stop, { focus, fold: toggle })}
    >
      {rows.map((row) => (
        <TreeRow
          key={row.path}
          row={row}
          to={to}
          here={row.path === here}
          mark={row.file && marks.get(row.path)}
          stop={row.path === stop}
          onFocus={setFocused}
          onToggle={toggle}
        />
      ))}
      {all.length > rows.length && (
        <p className="tree-note">{all.length - rows.length} more lines; look for a name above.</p>
      )}
    </div>
  );
}

interface TreeRowProps {
  row: Row;
  to: OpenWorkspace["to"];
  here: boolean;
  mark: Mark | undefined;
  /** The one line that Tab leads to. */
  stop: boolean;
  onFocus(path: string): void;
  onToggle(path: string, open: boolean): void;
}

/** Thousands of them may be in sight, and one key moves the focus between two. */
const TreeRow = memo(function TreeRow({ row, to, here, mark, stop, onFocus, onToggle }: TreeRowProps) {
  const { path, name, level, file, open, count, size } = row;
  const changed = mark && `changed ${formatAgo(Date.now() - Date.parse(mark.at))} by ${mark.who}`;
  return (
    <Link
      className="file-row"
      role="treeitem"
      href={to({ show: "files", path })}
      data-path={path}
      style={{ paddingInlineStart: `${getIndent(level)}rem` }}
      aria-level={level}
      aria-posinset={row.place}
      aria-setsize={row.siblings}
      aria-selected={here}
      aria-current={here ? "page" : undefined}
      aria-label={`${name}, ${file ? formatBytes(size) : formatCount(count, "file")}${changed ? `, ${changed}` : ""}`}
      {...(open === undefined ? {} : { "aria-expanded": open })}
      title={[path, file ? formatBytes(size) : `${formatCount(count, "file")}, ${formatBytes(size)}`, changed]
        .filter(Boolean)
        .join(" · ")}
      tabIndex={stop ? 0 : -1}
      onFocus={() => onFocus(path)}
      onClick={() => open === false && onToggle(path, true)}
    >
      <span
        className="file-fold"
        onClick={(event) => {
          if (open === undefined) return;
          event.preventDefault();
          event.stopPropagation();
          onToggle(path, !open);
        }}
      >
        {open !== undefined && <Icon name="chevron" />}
      </span>
      <Icon name={file ? "file" : "folder"} />
      <span className="file-name">{name}</span>
      {mark && (
        <span className="file-mark" data-by={mark.by}>
          {mark.who}
        </span>
      )}
      <span className="file-size">{file ? formatSize(size) : count}</span>
    </Link>
  );
});

/** Deep down the steps are small, so that there is room left for a name. */
function getIndent(level: number): number {
  const steps = Math.min(level - 1, 6);
  return 0.25 + steps * 0.85 + (level - 1 - steps) * 0.15;
}

/** Narrow enough for the edge of a tree. */
function formatSize(size: number): string {
  return formatBytes(size).replace(/ bytes?$/, " B");
}

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
  /** Whether the files are search results; all folders are then expanded. */
  filtered: boolean;
  current: string | undefined;
  marks: ReadonlyMap<string, Mark>;
}

/** Up to this many files, all folders are initially expanded. */
const maxFilesExpanded = 60;
const maxRows = 2000;

export function FileTree({ files, filtered, current, marks }: FileTreeProps) {
  const workspace = useWorkspace();
  const { to, noun } = workspace;
  const store = getFoldStore(workspace);
  const folds = useStore(store);
  const frame = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<string>();

  useEffect(() => {
    if (current !== undefined) setFoldersOpen(store, listParentFolders(current), true);
  }, [store, current]);

  const tree = useMemo(() => buildTree(files), [files]);
  const all = useMemo(
    () => listRows(tree, (path) => filtered || (folds.get(path) ?? files.length <= maxFilesExpanded)),
    [tree, filtered, folds, files],
  );
  const rows = useMemo(() => all.slice(0, maxRows), [all]);
  const tabStop = [focused, current].find((path) => rows.some((row) => row.path === path)) ?? rows[0]?.path;

  const findRow = (path: string) => frame.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`);
  const focus = (path: string) => {
    setFocused(path);
    findRow(path)?.focus();
  };
  // Folders cannot be collapsed in search results.
  const toggle = useCallback(
    (path: string, open: boolean) => void (filtered || setFoldersOpen(store, [path], open)),
    [store, filtered],
  );

  // Scroll to the current file once its folders are expanded.
  const isShown = current !== undefined && rows.some(({ path }) => path === current);
  useEffect(() => {
    if (isShown) findRow(current)?.scrollIntoView({ block: "nearest" });
  }, [current, isShown]);

  return (
    <div
      ref={frame}
      className="file-tree"
      role="tree"
      aria-label={noun === "file" ? "Files" : "Documents"}
      onKeyDown={(event) => moveAmongRows(event, rows, tabStop, { focus, fold: toggle })}
    >
      {rows.map((row) => (
        <TreeRow
          key={row.path}
          row={row}
          to={to}
          noun={noun}
          current={row.path === current}
          mark={row.file && marks.get(row.path)}
          tabStop={row.path === tabStop}
          onFocus={setFocused}
          onToggle={toggle}
        />
      ))}
      {all.length > rows.length && (
        <p className="tree-note">{all.length - rows.length} more rows. Search to narrow the list.</p>
      )}
    </div>
  );
}

interface TreeRowProps {
  row: Row;
  to: OpenWorkspace["to"];
  noun: OpenWorkspace["noun"];
  current: boolean;
  mark: Mark | undefined;
  /** Whether this row is the tab stop of the tree. */
  tabStop: boolean;
  onFocus(path: string): void;
  onToggle(path: string, open: boolean): void;
}

/** Memoized, because there may be thousands of rows and a key press only changes two. */
const TreeRow = memo(function TreeRow({ row, to, noun, current, mark, tabStop, onFocus, onToggle }: TreeRowProps) {
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
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={current}
      aria-current={current ? "page" : undefined}
      aria-label={`${name}, ${file ? formatBytes(size) : formatCount(count, noun)}${changed ? `, ${changed}` : ""}`}
      {...(open === undefined ? {} : { "aria-expanded": open })}
      title={[path, file ? formatBytes(size) : `${formatCount(count, noun)}, ${formatBytes(size)}`, changed]
        .filter(Boolean)
        .join(" · ")}
      tabIndex={tabStop ? 0 : -1}
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

/** Deep levels are indented less, to leave room for the name. */
function getIndent(level: number): number {
  const steps = Math.min(level - 1, 6);
  return 0.25 + steps * 0.85 + (level - 1 - steps) * 0.15;
}

/** Short form of the size. */
function formatSize(size: number): string {
  return formatBytes(size).replace(/ bytes?$/, " B");
}

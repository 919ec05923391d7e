import type { FileInfo } from "@thinkery/sdk";
import { useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "../../api/store.ts";
import { Link } from "../../frame/link.tsx";
import { bytes, counted } from "../../parts/amount.ts";
import { ago } from "../../parts/duration.ts";
import { Icon } from "../../parts/icon.tsx";
import { useWorkspace } from "../open-workspace.tsx";
import type { Mark } from "./marks.ts";
import { fold, foldsOf } from "./open-folders.ts";
import { foldersTo, type Row, rowsOf, treeOf } from "./rows.ts";
import { moveAmongRows } from "./tree-keys.ts";

interface FileTreeProps {
  files: readonly FileInfo[];
  /** Only a part of them, which was looked for: then all folders are open. */
  filtered: boolean;
  here: string | undefined;
  marks: ReadonlyMap<string, Mark>;
}

/** So few files are all shown at once. */
const fewFiles = 60;
const mostRows = 2000;

export function FileTree({ files, filtered, here, marks }: FileTreeProps) {
  const { agency, agent } = useWorkspace();
  const store = foldsOf(agency, agent);
  const folds = useStore(store);
  const frame = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<string>();

  useEffect(() => {
    if (here !== undefined) fold(store, foldersTo(here), true);
  }, [store, here]);

  const isOpen = (path: string) => filtered || (folds.get(path) ?? files.length <= fewFiles);
  const tree = useMemo(() => treeOf(files), [files]);
  const all = rowsOf(tree, isOpen);
  const rows = all.slice(0, mostRows);
  const stop = [focused, here].find((path) => rows.some((row) => row.path === path)) ?? rows[0]?.path;

  const focus = (path: string) => {
    setFocused(path);
    frame.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`)?.focus();
  };

  return (
    <div
      ref={frame}
      className="file-tree"
      role="tree"
      aria-label="Files"
      onKeyDown={(event) => moveAmongRows(event, rows, stop, { focus, fold: (path, open) => fold(store, [path], open) })}
    >
      {rows.map((row) => (
        <TreeRow
          key={row.path}
          row={row}
          here={row.path === here}
          mark={row.file && marks.get(row.path)}
          stop={row.path === stop}
          onFocus={() => setFocused(row.path)}
          onToggle={() => fold(store, [row.path], !row.open)}
        />
      ))}
      {all.length > rows.length && <p className="tree-note">{all.length - rows.length} more lines; look for a name above.</p>}
    </div>
  );
}

interface TreeRowProps {
  row: Row;
  here: boolean;
  mark: Mark | undefined;
  /** The one line that Tab leads to. */
  stop: boolean;
  onFocus(): void;
  onToggle(): void;
}

function TreeRow({ row, here, mark, stop, onFocus, onToggle }: TreeRowProps) {
  const { to } = useWorkspace();
  const { path, name, level, file, open, count, size } = row;
  const changed = mark && `changed ${ago(Date.now() - Date.parse(mark.at))} by ${mark.who}`;
  return (
    <Link
      className="file-row"
      role="treeitem"
      href={to({ show: "files", path })}
      data-path={path}
      style={{ paddingInlineStart: `${0.25 + Math.min(level - 1, 12) * 0.85}rem` }}
      aria-level={level}
      aria-posinset={row.place}
      aria-setsize={row.siblings}
      aria-selected={here}
      aria-current={here ? "page" : undefined}
      aria-label={`${name}, ${file ? bytes(size) : counted(count, "file")}${changed ? `, ${changed}` : ""}`}
      {...(open === undefined ? {} : { "aria-expanded": open })}
      title={[path, file ? bytes(size) : `${counted(count, "file")}, ${bytes(size)}`, changed].filter(Boolean).join(" · ")}
      tabIndex={stop ? 0 : -1}
      onFocus={onFocus}
      onClick={() => open === false && onToggle()}
    >
      <span
        className="file-fold"
        onClick={(event) => {
          if (open === undefined) return;
          event.preventDefault();
          event.stopPropagation();
          onToggle();
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
      <span className="file-size">{file ? short(size) : count}</span>
    </Link>
  );
}

/** Narrow enough for the edge of a tree. */
function short(size: number): string {
  return bytes(size).replace(" bytes", " B");
}

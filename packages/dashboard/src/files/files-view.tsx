import type { FileChanges } from "@thinkery/sdk/react";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { useSource } from "../api/source.ts";
import type { FilesPlace } from "../frame/files-place.ts";
import { useKeepFocus } from "../frame/use-keep-focus.ts";
import { Notice } from "../parts/notice.tsx";
import "../styles/file-tree.css";
import "../styles/pane.css";
import "../styles/history.css";
// Imported last: its rules for narrow screens override those above.
import "../styles/files.css";
import { EmptyDocuments } from "./empty-documents.tsx";
import { EmptyWorkspace } from "./empty-workspace.tsx";
import { FilesSidebar } from "./files-sidebar.tsx";
import { useWorkspace, WorkspaceProvider } from "./open-workspace.tsx";
import { Pane } from "./pane.tsx";
import { getParentFolder } from "./tree/rows.ts";
import { type UploadSelection, gatherDropped } from "./upload/gather.ts";
import { UploadPanel } from "./upload/upload-panel.tsx";
import { getUploader } from "./upload/uploader.ts";

interface FilesViewProps {
  agency: string;
  /** Undefined for the documents of the agency. */
  agent: string | undefined;
  user: string;
  place: FilesPlace;
  /** The last change received while the view was open. */
  lastChanged: FileChanges | undefined;
  /** Different after every change, if it is not known what changed. */
  changeCount?: number | undefined;
}

/** The files of an agent, or the documents of an agency: their contents and their history. */
export function FilesView(props: FilesViewProps) {
  return (
    <WorkspaceProvider {...props}>
      <Files place={props.place} />
    </WorkspaceProvider>
  );
}

function Files({ place }: { place: FilesPlace }) {
  const workspace = useWorkspace();
  const { agent, noun, listing, canWrite, refresh } = workspace;
  const { value, error } = useSource(listing);
  const uploader = getUploader(workspace);
  const folder = getTargetFolder(place.path, value?.files.some(({ path }) => path === place.path) ?? true);
  const upload = (selection: UploadSelection) => uploader.add(workspace, folder, selection);
  const drop = useDrop(canWrite && agent !== undefined ? upload : undefined);
  const pane = useRef<HTMLElement>(null);
  // On a narrow screen the tree may be shown instead of the pane.
  useKeepFocus([place.show, place.path, place.version, place.branch].join("\0"), () =>
    pane.current?.checkVisibility()
      ? pane.current
      : pane.current?.parentElement?.querySelector<HTMLElement>(".file-tree [tabindex='0']"),
  );
  useEffect(() => {
    uploader.onSent = refresh;
  }, [uploader, refresh]);

  if (!value) {
    if (!error) return <p className="pane-note">Loading…</p>;
    return (
      <div className="files-error">
        <Notice tone="bad" title={`Failed to load ${noun}s`} onRetry={refresh}>
          {error.message}
        </Notice>
      </div>
    );
  }
  const isOpen = place.path !== undefined || place.show === "history";
  const isEmpty = value.files.length === 0 && value.version === 0 && workspace.branch === undefined && !isOpen;
  return (
    <div className="files" data-open={isOpen || undefined} {...drop.handlers}>
      {isEmpty ? (
        agent === undefined ? (
          <EmptyDocuments />
        ) : (
          <EmptyWorkspace agent={agent} onUpload={upload} />
        )
      ) : (
        <>
          <FilesSidebar
            listing={value}
            place={place}
            folder={folder}
            onUpload={upload}
            onExtract={(zip) => uploader.extract(workspace, zip)}
          />
          <section ref={pane} className="pane" tabIndex={-1} aria-label={place.path ?? "Latest changes"}>
            <Pane listing={value} place={place} />
          </section>
        </>
      )}
      <UploadPanel uploader={uploader} />
      {drop.over && (
        <div className="drop-overlay" aria-hidden="true">
          <p>Drop to upload{folder === undefined ? "" : ` to ${folder}`}</p>
        </div>
      )}
    </div>
  );
}

/** The folder for new files: the open folder, or that of the open file. */
function getTargetFolder(path: string | undefined, isFile: boolean): string | undefined {
  return path !== undefined && isFile ? getParentFolder(path) : path;
}

function useDrop(onDrop: ((selection: UploadSelection) => void) | undefined) {
  const [over, setOver] = useState(false);
  const hasFiles = (event: DragEvent) => onDrop !== undefined && event.dataTransfer.types.includes("Files");
  // Outside of the drop area, or without write access, the browser would replace the page with the dropped file.
  useEffect(() => {
    const onStrayDrop = (event: globalThis.DragEvent) => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "none";
    };
    window.addEventListener("dragover", onStrayDrop);
    window.addEventListener("drop", onStrayDrop);
    return () => {
      window.removeEventListener("dragover", onStrayDrop);
      window.removeEventListener("drop", onStrayDrop);
    };
  }, []);
  return {
    over,
    handlers: {
      onDragOver(event: DragEvent) {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave(event: DragEvent<HTMLElement>) {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      },
      onDropCapture(event: DragEvent) {
        if (!hasFiles(event)) return;
        event.preventDefault();
        event.stopPropagation();
        setOver(false);
        void gatherDropped(event.dataTransfer.items, event.dataTransfer.files).then(onDrop);
      },
    },
  };
}

import { useDeferredValue, useMemo, useRef, useState } from "react";
import { buildArchiveUrl, type Listing } from "../api/files.ts";
import { useSource } from "../api/source.ts";
import type { FilesPlace } from "../frame/files-place.ts";
import { Link } from "../frame/link.tsx";
import { formatBytes, formatCount } from "../parts/amount.ts";
import { HostLink } from "../parts/host-link.tsx";
import { Icon } from "../parts/icon.tsx";
import { Menu } from "../parts/menu.tsx";
import { BranchBar, NewBranch } from "./branch/branch-bar.tsx";
import { NewFile } from "./file-dialogs.tsx";
import { useWorkspace } from "./open-workspace.tsx";
import { FileTree } from "./tree/file-tree.tsx";
import { findRecentMarks } from "./tree/marks.ts";
import { filterFiles } from "./tree/rows.ts";
import { type UploadSelection, gatherPicked } from "./upload/gather.ts";

interface FilesSidebarProps {
  listing: Listing;
  place: FilesPlace;
  /** The folder for new files. */
  folder: string | undefined;
  onUpload(selection: UploadSelection): void;
  /** Extracts a zip at the root of the workspace. */
  onExtract(zip: File): void;
}

/** The file tree, with actions for the whole workspace. */
export function FilesSidebar({ listing, place, folder, onUpload, onExtract }: FilesSidebarProps) {
  const workspace = useWorkspace();
  const { user, agent, noun, latest, canWrite, to } = workspace;
  // Documents have no archives and no branches.
  const canUpload = canWrite && agent !== undefined;
  const { value: versions = [], at } = useSource(latest);
  const { error } = useSource(workspace.listing);
  const [filter, setFilter] = useState("");
  // Deferred, so that typing stays responsive with thousands of rows.
  const query = useDeferredValue(filter);
  const [dialog, setDialog] = useState<"file" | "branch">();
  const picker = useRef<HTMLInputElement>(null);
  const folderPicker = useRef<HTMLInputElement>(null);
  const zipPicker = useRef<HTMLInputElement>(null);
  const { files } = listing;
  const shown = useMemo(() => filterFiles(files, query), [files, query]);
  const marks = useMemo(
    () => findRecentMarks(files, versions, user, agent, at ?? 0),
    [files, versions, user, agent, at],
  );
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const close = () => setDialog(undefined);

  const pick = (input: HTMLInputElement) => {
    if (input.files?.length) onUpload(gatherPicked(input.files));
    input.value = "";
  };

  return (
    <section className="side" aria-label={`All ${noun}s`}>
      <div className="side-head">
        <div className="side-filter">
          <Icon name="search" />
          <input
            type="search"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
            placeholder={`Find ${noun}`}
            aria-label={`Find ${noun}s by name`}
            autoComplete="off"
            spellCheck={false}
          />
        </div>
        {canWrite && (
          <button
            type="button"
            className="icon-button"
            aria-label={`New ${noun}`}
            title={`New ${noun}`}
            onClick={() => setDialog("file")}
          >
            <Icon name="plus" />
          </button>
        )}
        {canUpload && (
          <button
            type="button"
            className="icon-button"
            aria-label="Upload files"
            title="Upload files"
            onClick={() => picker.current?.click()}
          >
            <Icon name="upload" />
          </button>
        )}
        <Menu label="More">
          <Link href={to({ show: "history" })}>History of all {noun}s</Link>
          {agent !== undefined && <HostLink href={buildArchiveUrl(workspace)}>Download all as zip</HostLink>}
          {canUpload && (
            <>
              <button type="button" onClick={() => folderPicker.current?.click()}>
                Upload folder
              </button>
              <button type="button" onClick={() => zipPicker.current?.click()}>
                Upload and extract zip
              </button>
              <button type="button" onClick={() => setDialog("branch")}>
                New branch
              </button>
            </>
          )}
        </Menu>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          tabIndex={-1}
          aria-label="Files to upload"
          onChange={({ currentTarget }) => pick(currentTarget)}
        />
        <input
          ref={folderPicker}
          type="file"
          hidden
          tabIndex={-1}
          aria-label="Folder to upload"
          {...{ webkitdirectory: "" }}
          onChange={({ currentTarget }) => pick(currentTarget)}
        />
        <input
          ref={zipPicker}
          type="file"
          accept=".zip"
          hidden
          tabIndex={-1}
          aria-label="Zip to extract"
          onChange={({ currentTarget: input }) => {
            if (input.files?.[0]) onExtract(input.files[0]);
            input.value = "";
          }}
        />
      </div>
      <BranchBar place={place} />
      <div className="side-tree">
        {shown.length > 0 ? (
          <FileTree files={shown} filtered={query.trim() !== ""} current={place.path} marks={marks} />
        ) : (
          <p className="tree-note">
            {files.length > 0 ? `No matching ${noun}s` : `No ${noun}s. Deleted ${noun}s are in the history.`}
          </p>
        )}
        {error && <p className="tree-note">List may be out of date: {error.message}</p>}
        {listing.more && (
          <p className="tree-note">
            Showing the first {files.length} {noun}s
          </p>
        )}
      </div>
      <p className="side-foot">
        <Link href={to({ show: "history" })}>
          {listing.version > 0 ? `Version ${listing.version}` : "No versions yet"}
        </Link>{" "}
        · {formatCount(files.length, noun)}, {formatBytes(size)}
      </p>
      {dialog === "file" && <NewFile folder={folder} onClose={close} />}
      {dialog === "branch" && agent !== undefined && <NewBranch agent={agent} onClose={close} />}
    </section>
  );
}

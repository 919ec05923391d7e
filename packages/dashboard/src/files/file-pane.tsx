import type { FileInfo } from "@thinkery/sdk";
import { type ReactNode, useState } from "react";
import { buildFileUrl, isReadable } from "../api/files.ts";
import { useTicketUrl } from "../api/ticket.ts";
import type { FilesPlace } from "../frame/files-place.ts";
import { Link } from "../frame/link.tsx";
import { formatBytes } from "../parts/amount.ts";
import { DateTime } from "../parts/date-time.tsx";
import { DescriptionList } from "../parts/description-list.tsx";
import { HostLink } from "../parts/host-link.tsx";
import { Icon } from "../parts/icon.tsx";
import { createLazyComponent } from "../parts/lazy-component.tsx";
import { FileActions } from "./file-actions.tsx";
import { FileGoneNotice } from "./file-gone-notice.tsx";
import { useWorkspace } from "./open-workspace.tsx";
import { PaneHead } from "./pane-head.tsx";

const LiveEditor = createLazyComponent(() => import("./editor/editor.ts").then(({ LiveEditor }) => LiveEditor));
const TextView = createLazyComponent(() => import("./editor/editor.ts").then(({ TextView }) => TextView));

const imageType = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;
/** Larger texts are not shown; they can be downloaded. */
const maxTextBytes = 8 * 1024 * 1024;

/** The current version of a file, or the last one if it was deleted while open. */
export function FilePane({ file, line, isGone }: { file: FileInfo; line: number | undefined; isGone: boolean }) {
  const { path, kind, size } = file;
  return (
    <>
      <PaneHead path={path} note={kind === "binary" ? formatBytes(size) : undefined}>
        {!isGone && <FileActions path={path} />}
      </PaneHead>
      {isGone && kind === "binary" && <FileGoneNotice path={path} />}
      {kind === "text" ? <LiveEditor key={path} path={path} line={line} /> : <StaticFile file={file} line={line} />}
    </>
  );
}

/** A file as of an older version. */
export function OldFilePane({ place, path }: { place: FilesPlace; path: string }) {
  const workspace = useWorkspace();
  const { version, line } = place;
  const url = buildFileUrl(workspace, path, { version });
  // The type it had then is not known before it is loaded, so the name decides.
  const isImage = imageExtension.test(path);
  const asText = <TextView key={url} path={path} url={url} line={line} />;
  return (
    <>
      <PaneHead path={path} note={`as of version ${version}`}>
        <HostLink
          className="icon-button"
          href={buildFileUrl(workspace, path, { version, download: true })}
          aria-label={`Download ${path} as of version ${version}`}
          title="Download"
        >
          <Icon name="download" />
        </HostLink>
        <Link className="button" href={workspace.to({ show: "files", path })}>
          Current version
        </Link>
      </PaneHead>
      {isImage ? <Picture key={url} url={url} path={path} fallback={asText} /> : asText}
    </>
  );
}

const imageExtension = /\.(?:png|jpe?g|gif|webp|avif|bmp)$/i;

/** A file that cannot be edited here: an image, a text that is too large, or anything else. */
function StaticFile({
  file: { path, mediaType, size, hash, modifiedAt },
  line,
}: {
  file: FileInfo;
  line: number | undefined;
}) {
  const workspace = useWorkspace();
  const url = buildFileUrl(workspace, path);
  // Keyed by content, so that a changed image is not shown with its old content.
  if (imageType.test(mediaType))
    return (
      <Picture
        key={hash}
        url={url}
        path={path}
        fallback={<p className="pane-note">Cannot display this image. It may be damaged.</p>}
      />
    );
  if (isReadable(mediaType) && size <= maxTextBytes) {
    return (
      <>
        <p className="pane-note">This file is too large to edit here. Download it to change it.</p>
        <TextView key={hash} path={path} url={url} line={line} />
      </>
    );
  }
  return (
    <div className="pane-facts">
      <DescriptionList
        of={[
          ["Type", mediaType],
          ["Size", formatBytes(size)],
          ["Modified", <DateTime at={modifiedAt} />],
        ]}
      />
      <p className="faint">
        {isReadable(mediaType)
          ? "This file is too large to display."
          : "Cannot display this file: it is neither an image nor UTF-8 text."}
      </p>
      <HostLink className="button" href={buildFileUrl(workspace, path, { download: true })}>
        Download
      </HostLink>
    </div>
  );
}

function Picture({ url, path, fallback }: { url: string; path: string; fallback: ReactNode }) {
  const [failed, setFailed] = useState(false);
  const source = useTicketUrl(url);
  if (failed || source === "failed") return fallback;
  return (
    <div className="picture">
      {source !== undefined && <img src={source} alt={path} onError={() => setFailed(true)} />}
    </div>
  );
}

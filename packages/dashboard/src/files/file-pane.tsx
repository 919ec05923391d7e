import type { FileInfo } from "@thinkery/sdk";
import { type ReactNode, useState } from "react";
import { buildFileUrl, isReadable } from "../api/files.ts";
import type { FilesPlace } from "../frame/files-place.ts";
import { Link } from "../frame/link.tsx";
import { formatBytes } from "../parts/amount.ts";
import { DateTime } from "../parts/date-time.tsx";
import { DescriptionList } from "../parts/description-list.tsx";
import { Icon } from "../parts/icon.tsx";
import { createLazyComponent } from "../parts/lazy-component.tsx";
import { FileActions } from "./file-actions.tsx";
import { FileGoneNotice } from "./file-gone-notice.tsx";
import { useWorkspace } from "./open-workspace.tsx";
import { PaneHead } from "./pane-head.tsx";

const LiveEditor = createLazyComponent(() => import("./editor/editor.ts").then(({ LiveEditor }) => LiveEditor));
const TextView = createLazyComponent(() => import("./editor/editor.ts").then(({ TextView }) => TextView));

const imageType = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;
/** More text than this is not drawn; it can be downloaded. */
const maxTextBytes = 8 * 1024 * 1024;

/** A file as it is now, or as it was last while somebody looked at it. */
export function FilePane({ file, line, gone }: { file: FileInfo; line: number | undefined; gone: boolean }) {
  const { path, kind, size } = file;
  return (
    <>
      <PaneHead path={path} note={kind === "binary" ? formatBytes(size) : undefined}>
        {!gone && <FileActions path={path} />}
      </PaneHead>
      {gone && kind === "binary" && <FileGoneNotice path={path} />}
      {kind === "text" ? <LiveEditor key={path} path={path} line={line} /> : <StaticFile file={file} line={line} />}
    </>
  );
}

/** A file as it was. */
export function OldFilePane({ place, path }: { place: FilesPlace; path: string }) {
  const workspace = useWorkspace();
  const { version, line } = place;
  const address = buildFileUrl(workspace, path, { version });
  // What it was then is not known before it is read.
  const isPicture = imageExtension.test(path);
  const asText = <TextView key={address} path={path} address={address} line={line} />;
  return (
    <>
      <PaneHead path={path} note={`as of version ${version}`}>
        <a
          className="icon-button"
          href={buildFileUrl(workspace, path, { version, download: true })}
          download
          aria-label={`Download ${path} as of version ${version}`}
          title="Download"
        >
          <Icon name="download" />
        </a>
        <Link className="button" href={workspace.to({ show: "files", path })}>
          As it is now
        </Link>
      </PaneHead>
      {isPicture ? <Picture key={address} address={address} path={path} otherwise={asText} /> : asText}
    </>
  );
}

const imageExtension = /\.(?:png|jpe?g|gif|webp|avif|bmp)$/i;

/** What is not edited together: a picture, a text that is too large for it, or anything else. */
function StaticFile({
  file: { path, mediaType, size, hash, modifiedAt },
  line,
}: {
  file: FileInfo;
  line: number | undefined;
}) {
  const workspace = useWorkspace();
  const address = buildFileUrl(workspace, path);
  // Another content is another picture, so that what was shown before is not shown in its place.
  if (imageType.test(mediaType))
    return (
      <Picture
        key={hash}
        address={address}
        path={path}
        otherwise={<p className="pane-note">This picture cannot be shown: it may be damaged.</p>}
      />
    );
  if (isReadable(mediaType) && size <= maxTextBytes) {
    return (
      <>
        <p className="pane-note">
          This text is too large to be edited together. It is shown as it is; download it to change it.
        </p>
        <TextView key={hash} path={path} address={address} line={line} />
      </>
    );
  }
  return (
    <div className="pane-facts">
      <DescriptionList
        of={[
          ["Kind", mediaType],
          ["Size", formatBytes(size)],
          ["Changed", <DateTime at={modifiedAt} />],
        ]}
      />
      <p className="faint">
        {isReadable(mediaType)
          ? "It is too large to be shown here."
          : "It is neither a picture nor text in UTF-8, so it cannot be shown here."}
      </p>
      <a className="button" href={buildFileUrl(workspace, path, { download: true })} download>
        Download
      </a>
    </div>
  );
}

function Picture({ address, path, otherwise }: { address: string; path: string; otherwise: ReactNode }) {
  const [failed, setFailed] = useState(false);
  if (failed) return otherwise;
  return (
    <div className="picture">
      <img src={address} alt={path} onError={() => setFailed(true)} />
    </div>
  );
}

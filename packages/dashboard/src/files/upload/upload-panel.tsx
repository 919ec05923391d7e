import { useStore } from "../../api/store.ts";
import { formatBytes, formatCount, formatNumber } from "../../parts/amount.ts";
import { Button } from "../../parts/button.tsx";
import { MessageText } from "../../parts/message-text.tsx";
import { type SkippedCounts, maxFiles } from "./gather.ts";
import type { Upload, Uploader } from "./uploader.ts";

const maxListed = 50;

/** What is being uploaded, and what came of it. */
export function UploadPanel({ uploader }: { uploader: Uploader }) {
  const { all, left } = useStore(uploader.state);
  const remarks = describeSkipped(left);
  if (all.length === 0 && remarks.length === 0) return null;
  const failed = all.filter(({ state }) => state === "failed");
  const toGo = countFiles(all.filter(({ state }) => state === "waiting" || state === "sending"));
  const done = countFiles(all.filter(({ state }) => state === "done"));
  const words =
    toGo > 0
      ? `Uploading: ${formatCount(toGo, "file")} to go`
      : `${formatCount(done, "file")} uploaded${failed.length > 0 ? `, ${countFiles(failed)} not` : ""}`;
  const listed = [...failed, ...all.filter(({ state }) => state === "sending")];
  return (
    <section className="uploads" aria-label="Uploads">
      <div className="uploads-head">
        <p role="status">{words}</p>
        <Button kind="quiet" onClick={() => (toGo > 0 ? uploader.cancel() : uploader.clear())}>
          {toGo > 0 ? "Cancel" : "Close"}
        </Button>
      </div>
      {remarks.map((remark) => (
        <p key={remark} className="faint">
          {remark}
        </p>
      ))}
      <ul>
        {listed.slice(0, maxListed).map((upload) => (
          <UploadLine key={upload.id} upload={upload} />
        ))}
      </ul>
    </section>
  );
}

function UploadLine({ upload: { files, state, share, error } }: { upload: Upload }) {
  const name = files.length === 1 ? files[0]?.path : `${formatCount(files.length, "file")}, as one version`;
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  return (
    <li data-state={state}>
      <span className="upload-path">{name}</span>
      {error === undefined ? (
        <>
          <progress value={share} max={1} aria-label={`Upload of ${name}`} />
          <span className="faint">{formatBytes(size)}</span>
        </>
      ) : (
        <p className="upload-problem">
          <MessageText text={error} />
        </p>
      )}
    </li>
  );
}

function countFiles(uploads: readonly Upload[]): number {
  return uploads.reduce((sum, { files }) => sum + files.length, 0);
}

/** Why something that was given is not there. */
function describeSkipped({ unmeant, beyond, unread }: SkippedCounts): string[] {
  return [
    ...(unmeant > 0
      ? [`Left out: ${formatCount(unmeant, "entry", "entries")} of .git, node_modules or .DS_Store.`]
      : []),
    ...(beyond > 0
      ? [
          `Left out: ${formatNumber(beyond)} more than the ${formatNumber(maxFiles)} that go at once. A zip may have more.`,
        ]
      : []),
    ...(unread > 0 ? [`Left out: ${formatNumber(unread)} that the browser could not read.`] : []),
  ];
}

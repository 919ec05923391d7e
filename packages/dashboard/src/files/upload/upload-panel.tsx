import { useStore } from "../../api/store.ts";
import { formatBytes, formatCount, formatNumber } from "../../parts/amount.ts";
import { Button } from "../../parts/button.tsx";
import { MessageText } from "../../parts/message-text.tsx";
import { type SkippedCounts, maxFiles } from "./gather.ts";
import type { Upload, Uploader } from "./uploader.ts";

const maxListed = 50;

/** Progress and results of uploads. */
export function UploadPanel({ uploader }: { uploader: Uploader }) {
  const { all, skipped } = useStore(uploader.state);
  const remarks = describeSkipped(skipped);
  if (all.length === 0 && remarks.length === 0) return null;
  const failed = all.filter(({ state }) => state === "failed");
  const pending = countFiles(all.filter(({ state }) => state === "waiting" || state === "sending"));
  const done = countFiles(all.filter(({ state }) => state === "done"));
  const status =
    pending > 0
      ? `Uploading… ${formatCount(pending, "file")} left`
      : `${formatCount(done, "file")} uploaded${failed.length > 0 ? `, ${countFiles(failed)} failed` : ""}`;
  const listed = [...failed, ...all.filter(({ state }) => state === "sending")];
  return (
    <section className="uploads" aria-label="Uploads">
      <div className="uploads-head">
        <p role="status">{status}</p>
        <Button kind="quiet" onClick={() => (pending > 0 ? uploader.cancel() : uploader.clear())}>
          {pending > 0 ? "Cancel" : "Close"}
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
          <progress value={share} max={1} aria-label={`Upload progress of ${name}`} />
          <span className="faint">{formatBytes(size)}</span>
        </>
      ) : (
        <p className="upload-error">
          <MessageText text={error} />
        </p>
      )}
    </li>
  );
}

function countFiles(uploads: readonly Upload[]): number {
  return uploads.reduce((sum, { files }) => sum + files.length, 0);
}

/** Explains why files were skipped. */
function describeSkipped({ ignored, overLimit, unreadable }: SkippedCounts): string[] {
  return [
    ...(ignored > 0 ? [`Skipped ${formatCount(ignored, "entry", "entries")} (.git, node_modules, .DS_Store).`] : []),
    ...(overLimit > 0
      ? [
          `Skipped ${formatCount(overLimit, "file")} over the limit of ${formatNumber(maxFiles)} per upload. Upload a zip instead.`,
        ]
      : []),
    ...(unreadable > 0 ? [`Skipped ${formatCount(unreadable, "file")} that the browser could not read.`] : []),
  ];
}

import { useStore } from "../../api/store.ts";
import { bytes, counted } from "../../parts/amount.ts";
import { Button } from "../../parts/button.tsx";
import { Said } from "../../parts/said.tsx";
import type { Uploader } from "./uploads.ts";

const mostListed = 50;

/** What is being uploaded, and what came of it. */
export function UploadPanel({ uploader }: { uploader: Uploader }) {
  const { all, skipped } = useStore(uploader.state);
  if (all.length === 0 && skipped === 0) return null;
  const left = all.filter(({ state }) => state === "waiting" || state === "sending").length;
  const failed = all.filter(({ state }) => state === "failed");
  const done = all.length - left - failed.length;
  const words = left > 0 ? `Uploading: ${counted(left, "file")} to go` : `${counted(done, "file")} uploaded${failed.length > 0 ? `, ${failed.length} not` : ""}`;
  const listed = [...failed, ...all.filter(({ state }) => state === "sending")];
  return (
    <section className="uploads" aria-label="Uploads">
      <div className="uploads-head">
        <p role="status">
          {words}
          {skipped > 0 && <span className="faint"> · {counted(skipped, "file")} left out</span>}
        </p>
        <Button kind="quiet" onClick={() => (left > 0 ? uploader.cancel() : uploader.clear())}>
          {left > 0 ? "Cancel" : "Close"}
        </Button>
      </div>
      <ul>
        {listed.slice(0, mostListed).map(({ id, path, size, state, share, error }) => (
          <li key={id} data-state={state}>
            <span className="upload-path">{path}</span>
            {error === undefined ? (
              <>
                <progress value={share} max={1} aria-label={`Upload of ${path}`} />
                <span className="faint">{bytes(size)}</span>
              </>
            ) : (
              <p className="upload-problem">
                <Said text={error} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

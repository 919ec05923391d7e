import type { MergeResponse } from "@thinkery/sdk";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { announce } from "../../frame/announce.tsx";
import { usePath } from "../../frame/navigation.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Notice } from "../../parts/notice.tsx";
import { useWorkspace } from "../open-workspace.tsx";
import { MergeOutcome } from "./merge-outcome.tsx";

interface DryRunDialogProps {
  title: string;
  action: string;
  /** Performs the action, or only previews its result. */
  run(dryRun: boolean): Promise<MergeResponse>;
  /** The branch that is changed, if not the current one. */
  into?: string | undefined;
  children: ReactNode;
  onClose(): void;
  /** Called when the dialog is closed after the action. */
  onDone?(): void;
}

/** Previews an action with a dry run, asks for confirmation and shows the result. */
export function DryRunDialog({ title, action, run, into, children, onClose, onDone }: DryRunDialogProps) {
  const { refresh } = useWorkspace();
  const [preview, setPreview] = useState<MergeResponse>();
  const [result, setResult] = useState<MergeResponse>();
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const firstRun = useRef(run);
  const path = usePath();
  const initialPath = useRef(path);

  useEffect(() => {
    firstRun.current(true).then(setPreview, setError);
  }, []);

  const confirm = async () => {
    setBusy(true);
    setError(undefined);
    try {
      setResult(await run(false));
      announce(`${title}: done.`);
      refresh();
    } catch (reason) {
      setError(reason as Error);
    } finally {
      setBusy(false);
    }
  };
  const close = () => {
    onClose();
    if (result) onDone?.();
  };
  // Close when the user follows a link in the result.
  useEffect(() => {
    if (path !== initialPath.current) close();
  });
  const isUnchanged = preview !== undefined && preview.changes.length === 0 && preview.overlaps.length === 0;

  return (
    <Dialog title={title} onClose={close}>
      <div className="dry-run">
        {!result && <div className="dialog-text">{children}</div>}
        {!preview && !error && <p className="faint">Checking…</p>}
        {result ? (
          <MergeOutcome merged={result} done into={into} />
        ) : (
          preview && <MergeOutcome merged={preview} done={false} into={into} />
        )}
        <div role="alert">{error && <Notice tone="bad">{error.message}</Notice>}</div>
        <div className="form-actions">
          <Button onClick={close}>{result || isUnchanged ? "Close" : "Cancel"}</Button>
          {!result && !isUnchanged && (
            <Button kind="main" busy={busy} disabled={!preview} onClick={() => void confirm()}>
              {action}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

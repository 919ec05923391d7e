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
  /** Does it, or only says what would come of it. */
  ask(dryRun: boolean): Promise<MergeResponse>;
  /** The branch that is changed, if not the one that is looked at. */
  into?: string | undefined;
  children: ReactNode;
  onClose(): void;
  /** It has happened, and was closed. */
  onDone?(): void;
}

/** Something that is tried before it is done: what would come of it, then a yes, then what came of it. */
export function DryRunDialog({ title, action, ask, into, children, onClose, onDone }: DryRunDialogProps) {
  const { refresh } = useWorkspace();
  const [trial, setTrial] = useState<MergeResponse>();
  const [done, setDone] = useState<MergeResponse>();
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const first = useRef(ask);
  const path = usePath();
  const began = useRef(path);

  useEffect(() => {
    first.current(true).then(setTrial, setError);
  }, []);

  const act = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const merged = await ask(false);
      setDone(merged);
      announce(`${title}: done.`);
      refresh();
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setBusy(false);
    }
  };
  const close = () => {
    onClose();
    if (done) onDone?.();
  };
  // A place was followed that is told of in here.
  useEffect(() => {
    if (path !== began.current) close();
  });
  const nothing = trial !== undefined && trial.changes.length === 0 && trial.overlaps.length === 0;

  return (
    <Dialog title={title} onClose={close}>
      <div className="trial">
        {!done && <div className="dialog-text">{children}</div>}
        {!trial && !error && <p className="faint">Looking what would come of it…</p>}
        {done ? (
          <MergeOutcome merged={done} done into={into} />
        ) : (
          trial && <MergeOutcome merged={trial} done={false} into={into} />
        )}
        <div role="alert">{error && <Notice tone="bad">{error.message}</Notice>}</div>
        <div className="form-actions">
          <Button onClick={close}>{done || nothing ? "Close" : "Cancel"}</Button>
          {!done && !nothing && (
            <Button kind="main" busy={busy} disabled={!trial} onClick={() => void act()}>
              {action}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

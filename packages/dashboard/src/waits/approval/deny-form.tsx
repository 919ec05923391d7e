import { type KeyboardEvent, useId, useState } from "react";
import { Button } from "../../parts/button.tsx";
import { showHidden } from "./show-hidden.ts";

interface DenyFormProps {
  /** The tool of the only call that is denied; undefined if all are. */
  what: string | undefined;
  busy: boolean;
  onDeny(reason: string): void;
  onCancel(): void;
}

/** Asks for the reason of a denial, which may be empty. Enter denies. */
export function DenyForm({ what, busy, onDeny, onCancel }: DenyFormProps) {
  const [reason, setReason] = useState("");
  const id = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing || event.repeat) return;
    event.preventDefault();
    if (!busy) onDeny(reason);
  };
  return (
    <div className="deny-form field">
      <label htmlFor={id}>
        Reason{what !== undefined && ` to deny ${showHidden(what)}`}{" "}
        <span className="faint">optional, for the agent</span>
      </label>
      <textarea
        id={id}
        rows={2}
        maxLength={10_000}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="approval-actions">
        <Button kind="danger" busy={busy} onClick={() => onDeny(reason)}>
          Deny
        </Button>
        <Button kind="quiet" disabled={busy} onClick={onCancel}>
          Back
        </Button>
      </div>
    </div>
  );
}

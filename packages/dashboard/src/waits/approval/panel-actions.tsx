import { Button } from "../../parts/button.tsx";

interface PanelActionsProps {
  /** Number of calls that are open. */
  count: number;
  /** What was prepared: other inputs, or only results in place of running the tools. */
  change: "changes" | "results" | undefined;
  busy: boolean;
  onApprove(): void;
  onDeny(): void;
}

/** Buttons that decide all open calls, with their keys. */
export function PanelActions({ count, change, busy, onApprove, onDeny }: PanelActionsProps) {
  const all = count > 1 ? ` all ${count}` : "";
  return (
    <div className="approval-actions">
      <Button kind="main" busy={busy} onClick={onApprove}>
        {change === "results" ? "Send as the result" : `Approve${all}${change ? " with changes" : ""}`} <Key name="y" />
      </Button>
      <Button disabled={busy} onClick={onDeny}>
        Deny{all}… <Key name="n" />
      </Button>
    </div>
  );
}

/** The key of an action, which works while its item has the focus. */
export const Key = ({ name }: { name: string }) => (
  <kbd aria-hidden="true" title={`Key ${name} while this item has the focus`}>
    {name}
  </kbd>
);

import { Button } from "../../parts/button.tsx";

interface PanelActionsProps {
  /** Number of calls that are open. */
  count: number;
  hasDrafts: boolean;
  busy: boolean;
  onApprove(): void;
  onDeny(): void;
}

/** Buttons that decide all open calls, with their keys. */
export function PanelActions({ count, hasDrafts, busy, onApprove, onDeny }: PanelActionsProps) {
  const all = count > 1 ? ` all ${count}` : "";
  return (
    <div className="approval-actions">
      <Button kind="main" busy={busy} onClick={onApprove}>
        Approve{all}
        {hasDrafts && " with changes"} <Key name="y" />
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

import { getWorkspaceCalls } from "../../api/workspace.ts";
import { useWorkspace } from "../open-workspace.tsx";
import { DryRunDialog } from "./dry-run-dialog.tsx";

export type Target = { version: number } | { turn: string };

/** Reverts a version or all changes of a turn. */
export function RevertDialog({ target, onClose }: { target: Target; onClose(): void }) {
  const calls = getWorkspaceCalls(useWorkspace());
  return (
    <DryRunDialog
      title={"version" in target ? `Revert version ${target.version}` : "Revert the whole turn"}
      action="Revert"
      run={(dryRun) => calls.revert({ ...target, dryRun })}
      onClose={onClose}
    >
      <p>This creates a new version that undoes the changes. Later changes elsewhere are kept.</p>
    </DryRunDialog>
  );
}

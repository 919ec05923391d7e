import { call } from "../../api/host.ts";
import { useWorkspace } from "../open-workspace.tsx";
import { DryRunDialog } from "./dry-run-dialog.tsx";

export type Target = { version: number } | { turn: string };

/** Takes back a version, or all that a turn changed. */
export function RevertDialog({ target, onClose }: { target: Target; onClose(): void }) {
  const { agency, agent, branch } = useWorkspace();
  const order = { ...target, ...(branch === undefined ? {} : { branch }) };
  return (
    <DryRunDialog
      title={"version" in target ? `Revert version ${target.version}` : "Revert the whole turn"}
      action="Revert"
      ask={(dryRun) => call("revert", { params: { agency, agent }, body: { ...order, dryRun } })}
      onClose={onClose}
    >
      <p>It is taken back by a new version. What was changed elsewhere since then stays.</p>
    </DryRunDialog>
  );
}

import { type Branch, mainBranch } from "@thinkery/sdk";
import { useState } from "react";
import { call } from "../../api/host.ts";
import { useSource } from "../../api/source.ts";
import { announce } from "../../frame/announce.tsx";
import type { FilesPlace } from "../../frame/files-place.ts";
import { navigate } from "../../frame/navigation.ts";
import { formatCount } from "../../parts/amount.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { DryRunDialog } from "../history/dry-run-dialog.tsx";
import { useWorkspace } from "../open-workspace.tsx";

/** Branch switcher with merge and delete. Hidden if there are no branches. */
export function BranchBar({ place }: { place: FilesPlace }) {
  const { agent, branch, branches, to, canWrite } = useWorkspace();
  const all = useSource(branches).value ?? [];
  const [dialog, setDialog] = useState<"merge" | "delete">();
  const close = () => setDialog(undefined);
  const current = all.find(({ id }) => id === branch);
  if (agent === undefined || (all.length === 0 && branch === undefined)) return null;
  return (
    <div className="branch-bar">
      <label>
        <Icon name="branch" />
        <span className="visually-hidden">Branch</span>
        <select
          value={branch ?? mainBranch}
          onChange={(event) =>
            navigate(
              to({
                show: place.show,
                ...(place.path === undefined ? {} : { path: place.path }),
                branch: event.target.value,
              }),
            )
          }
        >
          <option>{mainBranch}</option>
          {branch !== undefined && !current && <option>{branch}</option>}
          {all.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
      {current && (
        <>
          <p className="faint">
            From {current.from} at version {current.at}.{" "}
            {current.changed === 0 ? "Nothing to merge." : `${formatCount(current.changed, "unmerged version")}.`}
          </p>
          {canWrite && (
            <div className="branch-actions">
              <Button disabled={current.changed === 0} onClick={() => setDialog("merge")}>
                Merge…
              </Button>
              <Button kind="quiet" onClick={() => setDialog("delete")}>
                Delete…
              </Button>
            </div>
          )}
          {dialog === "merge" && <MergeBranch agent={agent} branch={current} onClose={close} />}
          {dialog === "delete" && <DeleteBranch agent={agent} branch={current} onClose={close} />}
        </>
      )}
    </div>
  );
}

interface BranchDialogProps {
  agent: string;
  branch: Branch;
  onClose(): void;
}

function MergeBranch({ agent, branch, onClose }: BranchDialogProps) {
  const { agency, to } = useWorkspace();
  return (
    <DryRunDialog
      title={`Merge ${branch.id} into ${branch.from}`}
      action="Merge"
      run={(dryRun) =>
        call("mergeBranch", { params: { agency, agent, branch: branch.id }, body: { into: branch.from, dryRun } })
      }
      into={branch.from}
      onClose={onClose}
      onDone={() => navigate(to({ show: "files", branch: branch.from }))}
    >
      <p>
        Changes on this branch are merged into {branch.from} as one version. The branch is kept until you delete it.
      </p>
    </DryRunDialog>
  );
}

function DeleteBranch({ agent, branch, onClose }: BranchDialogProps) {
  const { agency, branches, to } = useWorkspace();
  const remove = async () => {
    await call("deleteBranch", { params: { agency, agent, branch: branch.id } });
    onClose();
    navigate(to({ show: "files", branch: mainBranch }), "replace");
    announce(`Branch ${branch.id} deleted.`);
    await branches.reload();
  };
  return (
    <Confirm title={`Delete branch ${branch.id}?`} action="Delete branch" onConfirm={remove} onClose={onClose}>
      <p>
        {branch.changed === 0
          ? "All changes on it are merged."
          : `This deletes ${formatCount(branch.changed, "unmerged version")}. This cannot be undone.`}
      </p>
    </Confirm>
  );
}

export function NewBranch({ agent, onClose }: { agent: string; onClose(): void }) {
  const { agency, branch, branches, to } = useWorkspace();
  const create = async ({ name }: Record<string, string>) => {
    const created = await call("createBranch", {
      params: { agency, agent },
      body: { ...(name && { name }), ...(branch && { from: branch }) },
    });
    onClose();
    navigate(to({ show: "files", branch: created.id }));
    announce(`Branch ${created.id} created.`);
    await branches.reload();
  };
  return (
    <Dialog title="New branch" onClose={onClose}>
      <Form fields={["name"]} action="Create branch" onSubmit={create} onCancel={onClose}>
        {(errors) => (
          <>
            <div className="dialog-text">
              <p>
                A separate copy of all files. The agent works on {mainBranch}; try changes here and merge what you want
                to keep.
              </p>
            </div>
            <Field
              label="Name"
              optional
              error={errors.name}
              hint="Letters, digits, and . _ - in between. Leave empty to generate one."
            >
              {(props) => (
                <input
                  {...props}
                  name="name"
                  autoFocus
                  autoComplete="off"
                  autoCapitalize="off"
                  spellCheck={false}
                  placeholder="draft"
                />
              )}
            </Field>
          </>
        )}
      </Form>
    </Dialog>
  );
}

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

/** Which branch is looked at, where there are any, and what can be done with it. */
export function BranchBar({ place }: { place: FilesPlace }) {
  const { branch, branches, to, mayWrite } = useWorkspace();
  const all = useSource(branches).value ?? [];
  const [dialog, setDialog] = useState<"merge" | "delete">();
  const close = () => setDialog(undefined);
  const here = all.find(({ id }) => id === branch);
  if (all.length === 0 && branch === undefined) return null;
  return (
    <div className="branch-bar">
      <label>
        <Icon name="branch" />
        <span className="unseen">Branch</span>
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
          {branch !== undefined && !here && <option>{branch}</option>}
          {all.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
      {here && (
        <>
          <p className="faint">
            From {here.from} at version {here.at}.{" "}
            {here.changed === 0 ? "Nothing to merge." : `${formatCount(here.changed, "version")} not merged.`}
          </p>
          {mayWrite && (
            <div className="branch-deeds">
              <Button disabled={here.changed === 0} onClick={() => setDialog("merge")}>
                Merge…
              </Button>
              <Button kind="quiet" onClick={() => setDialog("delete")}>
                Delete…
              </Button>
            </div>
          )}
          {dialog === "merge" && <MergeBranch branch={here} onClose={close} />}
          {dialog === "delete" && <DeleteBranch branch={here} onClose={close} />}
        </>
      )}
    </div>
  );
}

function MergeBranch({ branch, onClose }: { branch: Branch; onClose(): void }) {
  const { agency, agent, to } = useWorkspace();
  return (
    <DryRunDialog
      title={`Merge ${branch.id} into ${branch.from}`}
      action="Merge"
      ask={(dryRun) =>
        call("mergeBranch", { params: { agency, agent, branch: branch.id }, body: { into: branch.from, dryRun } })
      }
      into={branch.from}
      onClose={onClose}
      onDone={() => navigate(to({ show: "files", branch: branch.from }))}
    >
      <p>
        What was changed on this branch is brought to {branch.from} as one version. The branch stays until you delete
        it.
      </p>
    </DryRunDialog>
  );
}

function DeleteBranch({ branch, onClose }: { branch: Branch; onClose(): void }) {
  const { agency, agent, branches, to } = useWorkspace();
  const remove = async () => {
    await call("deleteBranch", { params: { agency, agent, branch: branch.id } });
    onClose();
    navigate(to({ show: "files", branch: mainBranch }), "replace");
    announce(`The branch ${branch.id} was deleted.`);
    await branches.reload();
  };
  return (
    <Confirm title={`Delete the branch ${branch.id}?`} action="Delete branch" onConfirm={remove} onClose={onClose}>
      <p>
        {branch.changed === 0
          ? "All that was changed on it is merged."
          : `${formatCount(branch.changed, "version")} on it that are not merged go with it. This cannot be undone.`}
      </p>
    </Confirm>
  );
}

export function NewBranch({ onClose }: { onClose(): void }) {
  const { agency, agent, branch, branches, to } = useWorkspace();
  const create = async ({ name }: Record<string, string>) => {
    const made = await call("createBranch", {
      params: { agency, agent },
      body: { ...(name && { name }), ...(branch && { from: branch }) },
    });
    onClose();
    navigate(to({ show: "files", branch: made.id }));
    announce(`The branch ${made.id} was made.`);
    await branches.reload();
  };
  return (
    <Dialog title="New branch" onClose={onClose}>
      <Form fields={["name"]} action="Create branch" onSubmit={create} onCancel={onClose}>
        {(problems) => (
          <>
            <div className="dialog-text">
              <p>
                A copy of all files that is changed by itself. The agent works on {mainBranch}; try things here and
                merge what is good.
              </p>
            </div>
            <Field
              label="Name"
              optional
              problem={problems.name}
              hint="Letters, digits and . _ - between them. Left empty, the host chooses one."
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

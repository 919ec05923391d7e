import { parseFilePath, listParentFolders, findPathIssue } from "@thinkery/sdk";
import { useState } from "react";
import { createFile, moveFile, removeFile } from "../api/files.ts";
import { announce } from "../frame/announce.tsx";
import { navigate } from "../frame/navigation.ts";
import { formatCount } from "../parts/amount.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";
import { useWorkspace } from "./open-workspace.tsx";

/** Folders exist only while they contain files, so there is no dialog to create one. */
export function NewFile({ folder, onClose }: { folder: string | undefined; onClose(): void }) {
  const workspace = useWorkspace();
  const create = async (path: string) => {
    await createFile(workspace, path);
    await workspace.listing.reload();
    onClose();
    navigate(workspace.to({ show: "files", path }));
    announce(`${path} created.`);
    workspace.refresh();
  };
  return (
    <Dialog title={`New ${workspace.noun}`} onClose={onClose}>
      <PathForm
        start={folder === undefined ? "" : `${folder}/`}
        action={`Create ${workspace.noun}`}
        hint="Folders are created as needed, e.g. notes/2026/plan.md"
        onPath={create}
        onClose={onClose}
      />
    </Dialog>
  );
}

interface MoveProps {
  path: string;
  /** The files in the folder; undefined for a file. */
  contents?: readonly string[];
  onClose(): void;
}

export function Move({ path, contents, onClose }: MoveProps) {
  const workspace = useWorkspace();
  const rename = async (to: string) => {
    if (to !== path) await moveFile(workspace, path, to);
    await workspace.listing.reload();
    onClose();
    navigate(workspace.to({ show: "files", path: to }), "replace");
    announce(`${path} moved to ${to}.`);
    workspace.refresh();
  };
  return (
    <Dialog title={`Rename or move this ${contents ? "folder" : workspace.noun}`} onClose={onClose}>
      <PathForm
        start={path}
        action="Move"
        hint={
          contents
            ? `Moves ${formatCount(contents.length, workspace.noun)} as one version.`
            : "Folders are created as needed."
        }
        onPath={rename}
        onClose={onClose}
      />
    </Dialog>
  );
}

export function Delete({ path, contents, onClose }: MoveProps) {
  const workspace = useWorkspace();
  const remove = async () => {
    await removeFile(workspace, path, contents !== undefined);
    await workspace.listing.reload();
    // Go to the nearest folder that still exists; a folder disappears with its last file.
    const remaining = workspace.listing.get().value?.files ?? [];
    const folder = listParentFolders(path).findLast((parent) =>
      remaining.some((file) => file.path.startsWith(`${parent}/`)),
    );
    onClose();
    navigate(workspace.to({ show: "files", ...(folder === undefined ? {} : { path: folder }) }), "replace");
    announce(`${path} deleted.`);
    workspace.refresh();
  };
  return (
    <Confirm title={`Delete ${path}?`} action="Delete" onConfirm={remove} onClose={onClose}>
      <p>
        {contents ? `This deletes ${formatCount(contents.length, workspace.noun)}. ` : ""}To restore{" "}
        {contents ? "them" : "it"} later, revert this version in the history.
      </p>
    </Confirm>
  );
}

interface PathFormProps {
  start: string;
  action: string;
  hint: string;
  onPath(path: string): Promise<void>;
  onClose(): void;
}

function PathForm({ start, action, hint, onPath, onClose }: PathFormProps) {
  const [path, setPath] = useState(start);
  const issue = path.trim() === "" || path.endsWith("/") ? undefined : findPathIssue(path.trim());
  return (
    <Form
      fields={["path"]}
      action={action}
      ready={path.trim() !== "" && !path.endsWith("/") && issue === undefined}
      onSubmit={() => onPath(parseFilePath(path.trim()))}
      onCancel={onClose}
    >
      {(errors) => (
        <Field label="Path" hint={hint} error={errors.path ?? (issue && `Invalid path: ${issue}.`)}>
          {(props) => (
            <input
              {...props}
              className="mono"
              name="path"
              value={path}
              onChange={(event) => setPath(event.target.value)}
              onFocus={({ currentTarget: field }) =>
                field.setSelectionRange(field.value.lastIndexOf("/") + 1, findNameEnd(field.value))
              }
              autoFocus
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
            />
          )}
        </Field>
      )}
    </Form>
  );
}

/** End of the name without its extension, which is usually kept when renaming. */
function findNameEnd(path: string): number {
  const dot = path.lastIndexOf(".");
  return dot > path.lastIndexOf("/") + 1 ? dot : path.length;
}

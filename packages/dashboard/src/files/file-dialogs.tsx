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

// What can be done with a file or a folder, each in a dialog of its own.

/** A folder is there as soon as a file is in it, so there is no need to make one. */
export function NewFile({ folder, onClose }: { folder: string | undefined; onClose(): void }) {
  const workspace = useWorkspace();
  const create = async (path: string) => {
    await createFile(workspace, path);
    await workspace.listing.reload();
    onClose();
    navigate(workspace.to({ show: "files", path }));
    announce(`${path} was created.`);
    workspace.refresh();
  };
  return (
    <Dialog title="New file" onClose={onClose}>
      <PathForm
        start={folder === undefined ? "" : `${folder}/`}
        action="Create file"
        hint="Folders in it are made with it: notes/2026/plan.md"
        onPath={create}
        onClose={onClose}
      />
    </Dialog>
  );
}

interface MoveProps {
  path: string;
  /** The files in it, where it is a folder. */
  inside?: readonly string[];
  onClose(): void;
}

export function Move({ path, inside, onClose }: MoveProps) {
  const workspace = useWorkspace();
  const rename = async (to: string) => {
    if (to !== path) await moveFile(workspace, path, to);
    await workspace.listing.reload();
    onClose();
    navigate(workspace.to({ show: "files", path: to }), "replace");
    announce(`${path} is now ${to}.`);
    workspace.refresh();
  };
  return (
    <Dialog title={`Rename or move ${inside ? "this folder" : "this file"}`} onClose={onClose}>
      <PathForm
        start={path}
        action="Move"
        hint={
          inside
            ? `${formatCount(inside.length, "file")} move with it, as one version.`
            : "Folders in it are made with it."
        }
        onPath={rename}
        onClose={onClose}
      />
    </Dialog>
  );
}

export function Delete({ path, inside, onClose }: MoveProps) {
  const workspace = useWorkspace();
  const remove = async () => {
    await removeFile(workspace, path, inside !== undefined);
    await workspace.listing.reload();
    // The nearest folder that is still there: one goes with the last file in it.
    const left = workspace.listing.get().value?.files ?? [];
    const folder = listParentFolders(path).findLast((above) => left.some((file) => file.path.startsWith(`${above}/`)));
    onClose();
    navigate(workspace.to({ show: "files", ...(folder === undefined ? {} : { path: folder }) }), "replace");
    announce(`${path} was deleted.`);
    workspace.refresh();
  };
  return (
    <Confirm title={`Delete ${path}?`} action="Delete" onConfirm={remove} onClose={onClose}>
      <p>
        {inside ? `${formatCount(inside.length, "file")} in it go with it. ` : ""}The history keeps what was here: it
        can be brought back by reverting that version.
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
  const problem = path.trim() === "" || path.endsWith("/") ? undefined : findPathIssue(path.trim());
  return (
    <Form
      fields={["path"]}
      action={action}
      ready={path.trim() !== "" && !path.endsWith("/") && problem === undefined}
      onSubmit={() => onPath(parseFilePath(path.trim()))}
      onCancel={onClose}
    >
      {(problems) => (
        <Field label="Path" hint={hint} problem={problems.path ?? (problem && `This cannot be a path: ${problem}.`)}>
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

/** Whoever renames keeps the ending, mostly. */
function findNameEnd(path: string): number {
  const dot = path.lastIndexOf(".");
  return dot > path.lastIndexOf("/") + 1 ? dot : path.length;
}

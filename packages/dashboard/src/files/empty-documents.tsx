import { useState } from "react";
import { useDefaultAgency } from "../api/login.ts";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Icon } from "../parts/icon.tsx";
import { NewFile } from "./file-dialogs.tsx";
import { useWorkspace } from "./open-workspace.tsx";

/** Shown before the first document: what documents are and how to add one. */
export function EmptyDocuments() {
  const { agency, canWrite } = useWorkspace();
  const [creating, setCreating] = useState(false);
  const option = useDefaultAgency() === agency ? "" : ` -a @${agency}`;
  return (
    <div className="files-empty">
      <Empty
        title="No documents yet"
        action={
          canWrite && (
            <Button kind="main" onClick={() => setCreating(true)}>
              <Icon name="plus" /> New document
            </Button>
          )
        }
      >
        <p>
          Documents belong to the whole agency: people and agents write in them at the same time, and every change is
          recorded with its author and can be reverted. Agents use them through the tools <code>team_doc_read</code>,{" "}
          <code>team_doc_write</code> and <code>team_doc_append</code>.
        </p>
        {canWrite && (
          <p>
            From a terminal: <code>thinkery doc write plan.md "# Plan"{option}</code>
          </p>
        )}
      </Empty>
      {creating && <NewFile folder={undefined} onClose={() => setCreating(false)} />}
    </div>
  );
}

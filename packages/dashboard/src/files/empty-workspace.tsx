import { globalAgency } from "@thinkery/sdk";
import { useRef, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Icon } from "../parts/icon.tsx";
import { NewFile } from "./file-dialogs.tsx";
import { useWorkspace } from "./open-workspace.tsx";
import { type UploadSelection, gatherPicked } from "./upload/gather.ts";

interface EmptyWorkspaceProps {
  agent: string;
  onUpload(selection: UploadSelection): void;
}

/** Shown before the first file: what a workspace is and how to add files. */
export function EmptyWorkspace({ agent, onUpload }: EmptyWorkspaceProps) {
  const { agency, canWrite } = useWorkspace();
  const [creating, setCreating] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const target = agency === globalAgency ? agent : `${agent}@${agency}`;
  return (
    <div className="files-empty">
      <Empty
        title="No files yet"
        action={
          canWrite && (
            <div className="actions">
              <Button kind="main" onClick={() => setCreating(true)}>
                <Icon name="plus" /> New file
              </Button>
              <Button onClick={() => picker.current?.click()}>
                <Icon name="upload" /> Upload files
              </Button>
            </div>
          )
        }
      >
        <p>
          This is {agent}’s workspace: files that it reads, writes and runs, and that you can edit together. Every
          change is recorded with its author and can be reverted.
        </p>
        {canWrite && (
          <p>
            Ask {agent} to write a file, drop files here, or run <code>thinkery files put {target} notes.md</code>
          </p>
        )}
      </Empty>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        tabIndex={-1}
        aria-label="Files to upload"
        onChange={({ currentTarget }) => {
          if (currentTarget.files?.length) onUpload(gatherPicked(currentTarget.files));
          currentTarget.value = "";
        }}
      />
      {creating && <NewFile folder={undefined} onClose={() => setCreating(false)} />}
    </div>
  );
}

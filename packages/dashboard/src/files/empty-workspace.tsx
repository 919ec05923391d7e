import { globalAgency } from "@thinkery/sdk";
import { useRef, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Icon } from "../parts/icon.tsx";
import { NewFile } from "./file-dialogs.tsx";
import { useWorkspace } from "./open-workspace.tsx";
import { type UploadSelection, gatherPicked } from "./upload/gather.ts";

/** Before the first file: what would be here, and how to put something there. */
export function EmptyWorkspace({ onUpload }: { onUpload(gathered: UploadSelection): void }) {
  const { agency, agent, mayWrite } = useWorkspace();
  const [creating, setCreating] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const target = agency === globalAgency ? agent : `${agent}@${agency}`;
  return (
    <div className="files-empty">
      <Empty
        title="No files yet"
        action={
          mayWrite && (
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
          This is the workspace of {agent}: files that it reads, writes and runs, and that you can edit together with
          it. Every change is kept with who made it, and can be taken back.
        </p>
        {mayWrite && (
          <p>
            Ask {agent} to write something, drop files here, or from a terminal:{" "}
            <code>thinkery files put {target} notes.md</code>
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

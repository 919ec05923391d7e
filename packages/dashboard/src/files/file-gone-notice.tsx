import { useEffect, useState } from "react";
import { Link } from "../frame/link.tsx";
import { Notice } from "../parts/notice.tsx";
import { useWorkspace } from "./open-workspace.tsx";

/** Tells the user that the open file was deleted or moved. */
export function FileGoneNotice({ path }: { path: string }) {
  const { lastChanged, noun, to } = useWorkspace();
  const [newPath, setNewPath] = useState<string>();
  useEffect(() => {
    const move = lastChanged?.changes.find(({ kind, from }) => kind === "move" && from === path);
    if (move) setNewPath(move.path);
  }, [lastChanged, path]);
  return (
    <div role="alert">
      <Notice tone="warn" title={newPath === undefined ? `This ${noun} was deleted.` : `This ${noun} was moved.`}>
        {newPath === undefined ? (
          <p>
            Showing its last content. <Link href={to({ show: "history", path })}>View history</Link>
          </p>
        ) : (
          <p>
            New path: <Link href={to({ show: "files", path: newPath })}>{newPath}</Link>
          </p>
        )}
      </Notice>
    </div>
  );
}

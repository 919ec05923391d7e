import { useEffect, useState } from "react";
import { Link } from "../frame/link.tsx";
import { Notice } from "../parts/notice.tsx";
import { useWorkspace } from "./open-workspace.tsx";

/** Says that a file which is open is no more, or is elsewhere. */
export function FileGoneNotice({ path }: { path: string }) {
  const { lastChanged, to } = useWorkspace();
  const [moved, setMoved] = useState<string>();
  useEffect(() => {
    const found = lastChanged?.changes.find(({ kind, from }) => kind === "move" && from === path);
    if (found) setMoved(found.path);
  }, [lastChanged, path]);
  return (
    <div role="alert">
      <Notice tone="warn" title={moved === undefined ? "This file was deleted." : "This file was moved."}>
        {moved === undefined ? (
          <p>
            What you see is what it was. <Link href={to({ show: "history", path })}>Its history</Link> has every version
            of it.
          </p>
        ) : (
          <p>
            It is now <Link href={to({ show: "files", path: moved })}>{moved}</Link>.
          </p>
        )}
      </Notice>
    </div>
  );
}

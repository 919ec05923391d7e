import { useCallback, useEffect, useState } from "react";
import { readText } from "../../api/files.ts";
import { Notice } from "../../parts/notice.tsx";
import { EditorFrame } from "./editor-frame.tsx";

/** A text as it lies on the host, to be read only: of an older version, or too large to be edited together. */
export function TextView({ path, address, line }: { path: string; address: string; line: number | undefined }) {
  const [read, setRead] = useState<{ text?: string; error?: Error }>({});
  useEffect(() => {
    const leaving = new AbortController();
    setRead({});
    readText(address, leaving.signal).then(
      (text) => setRead({ text }),
      (error: Error) => !leaving.signal.aborted && setRead({ error }),
    );
    return () => leaving.abort();
  }, [address]);
  const { text, error } = read;
  const begin = useCallback(() => ({ text: text ?? "", extensions: [] }), [text]);
  if (error) {
    return (
      <Notice tone="bad" title="This file could not be read.">
        {error.message}
      </Notice>
    );
  }
  if (text === undefined) return <p className="pane-note">Opening…</p>;
  return <EditorFrame path={path} label={`Text of ${path}`} begin={begin} readOnly line={line} />;
}

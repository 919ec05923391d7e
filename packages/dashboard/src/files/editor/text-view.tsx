import { useCallback, useEffect, useState } from "react";
import { readText } from "../../api/files.ts";
import { Notice } from "../../parts/notice.tsx";
import { EditorFrame } from "./editor-frame.tsx";

/** Read-only text from the host: an older version, or a file too large for collaborative editing. */
export function TextView({ path, url, line }: { path: string; url: string; line: number | undefined }) {
  const [loaded, setLoaded] = useState<{ text?: string; error?: Error }>({});
  useEffect(() => {
    const abortController = new AbortController();
    setLoaded({});
    readText(url, abortController.signal).then(
      (text) => setLoaded({ text }),
      (error: Error) => !abortController.signal.aborted && setLoaded({ error }),
    );
    return () => abortController.abort();
  }, [url]);
  const { text, error } = loaded;
  const initialize = useCallback(() => ({ text: text ?? "", extensions: [] }), [text]);
  if (error) {
    return (
      <Notice tone="bad" title="Failed to load this file">
        {error.message}
      </Notice>
    );
  }
  if (text === undefined) return <p className="pane-note">Opening…</p>;
  return <EditorFrame path={path} label={`Contents of ${path}`} initialize={initialize} readOnly line={line} />;
}

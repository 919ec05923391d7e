import { Prec } from "@codemirror/state";
import { keymap, ViewPlugin } from "@codemirror/view";
import { mainBranch } from "@thinkery/sdk";
import { useCallback, useEffect, useRef, useState } from "react";
import { yCollab, yUndoManagerKeymap } from "y-codemirror.next";
import * as Y from "yjs";
import { useStore } from "../../api/store.ts";
import { Link } from "../../frame/link.tsx";
import { Button } from "../../parts/button.tsx";
import { Notice } from "../../parts/notice.tsx";
import { FileGoneNotice } from "../file-gone-notice.tsx";
import { useWorkspace } from "../open-workspace.tsx";
import { EditorFrame } from "./editor-frame.tsx";
import { LiveLine } from "./live-line.tsx";
import type { LiveSession } from "./live-session.ts";
import { createRemoteCursors } from "./remote-cursors.ts";
import { useLiveSession } from "./use-live-session.ts";

/** A text file that is edited by everybody who looks at it at once, the agent included. */
export function LiveEditor({ path, line }: { path: string; line: number | undefined }) {
  const workspace = useWorkspace();
  const { live, renew } = useLiveSession(workspace, workspace.user);
  return live ? (
    <OpenEditor key={live.doc.guid} live={live} path={path} line={line} renew={renew} />
  ) : (
    <p className="pane-note">Opening…</p>
  );
}

interface OpenEditorProps {
  live: LiveSession;
  path: string;
  line: number | undefined;
  renew(): void;
}

function OpenEditor({ live, path, line, renew }: OpenEditorProps) {
  const { mayWrite, refresh } = useWorkspace();
  const { refusal, ready } = useStore(live.state);
  const { text, gone } = useText(live, path);
  const isMissed = useDelayed(ready && !text, missingAfterMs);

  // The list of files does not know yet of what was told here.
  useEffect(() => {
    if (refusal || isMissed) refresh();
  }, [refusal, isMissed, refresh]);
  useEffect(() => {
    live.lookAt(path);
    return () => live.lookAt(undefined);
  }, [live, path]);

  return (
    <>
      <LiveLine state={live.state} path={path} mayWrite={mayWrite} gone={gone || isMissed} />
      {refusal && <RefusalNotice {...refusal} ready={ready} renew={renew} />}
      {(gone || isMissed) && !refusal && <FileGoneNotice path={path} />}
      {text ? (
        <TextEditor
          key={path}
          live={live}
          text={text}
          path={path}
          line={line}
          readOnly={!mayWrite || gone || refusal !== undefined}
        />
      ) : (
        !refusal && !isMissed && <p className="pane-note">Opening…</p>
      )}
    </>
  );
}

interface RefusalNoticeProps {
  reason: string;
  gone: boolean;
  ready: boolean;
  renew(): void;
}

/** Why it does not go on, and how it could. */
function RefusalNotice({ reason, gone, ready, renew }: RefusalNoticeProps) {
  const { to } = useWorkspace();
  if (gone) {
    return (
      <div role="alert">
        <Notice tone="warn" title={reason}>
          <p>
            What you see is what it was. Go to{" "}
            <Link href={to({ show: "files", branch: mainBranch })}>the files on {mainBranch}</Link>.
          </p>
        </Notice>
      </div>
    );
  }
  return (
    <div role="alert">
      <Notice tone="bad" title={ready ? "Your last change was not taken." : "This file cannot be opened here."}>
        <p>{reason}</p>
        <Button kind="quiet" onClick={renew}>
          {ready ? "Go on with what the host has" : "Try again"}
        </Button>
      </Notice>
    </div>
  );
}

function TextEditor({
  live,
  text,
  path,
  line,
  readOnly,
}: {
  live: LiveSession;
  text: Y.Text;
  path: string;
  line: number | undefined;
  readOnly: boolean;
}) {
  const begin = useCallback(() => {
    // Only what was typed in this editor is undone by it, whatever others have written since.
    const undoManager = new Y.UndoManager(text);
    const cleanupPlugin = ViewPlugin.define(() => ({ destroy: () => undoManager.destroy() }));
    return {
      text: text.toString(),
      extensions: [
        Prec.high(keymap.of(yUndoManagerKeymap)),
        yCollab(text, null, { undoManager }),
        createRemoteCursors(live, text),
        cleanupPlugin,
      ],
    };
  }, [live, text]);
  return <EditorFrame path={path} label={`Text of ${path}`} begin={begin} readOnly={readOnly} line={line} />;
}

/** A file that was just made may be listed before its text is here. */
const missingAfterMs = 1_500;

/** Whether something has been so for a while. */
function useDelayed(now: boolean, wait: number): boolean {
  const [later, setLater] = useState(false);
  useEffect(() => {
    if (!now) return setLater(false);
    const timer = setTimeout(() => setLater(true), wait);
    return () => clearTimeout(timer);
  }, [now, wait]);
  return now && later;
}

/** The text of a file. One that is gone is still shown as it was last; one that comes back is another text. */
function useText({ files }: LiveSession, path: string): { text: Y.Text | undefined; gone: boolean } {
  const [present, setPresent] = useState(() => files.get(path));
  const last = useRef<{ path: string; text: Y.Text }>(undefined);
  useEffect(() => {
    const update = () => setPresent(files.get(path));
    update();
    files.observe(update);
    return () => files.unobserve(update);
  }, [files, path]);
  if (present instanceof Y.Text) last.current = { path, text: present };
  const text = last.current?.path === path ? last.current.text : undefined;
  return { text, gone: text !== undefined && text !== present };
}

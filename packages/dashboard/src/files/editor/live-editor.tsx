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
import type { LiveSession } from "./live-session.ts";
import { LiveStatus } from "./live-status.tsx";
import { createRemoteCursors } from "./remote-cursors.ts";
import { useLiveSession } from "./use-live-session.ts";

/** A text file that several users and the agent can edit at the same time. */
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
  const { canWrite, refresh } = useWorkspace();
  const { rejection, ready } = useStore(live.state);
  const { text, isGone } = useText(live, path);
  const isMissing = useDelayed(ready && !text, missingAfterMs);

  // The file list may not reflect this yet.
  useEffect(() => {
    if (rejection || isMissing) refresh();
  }, [rejection, isMissing, refresh]);
  useEffect(() => {
    live.setCurrentFile(path);
    return () => live.setCurrentFile(undefined);
  }, [live, path]);

  return (
    <>
      <LiveStatus state={live.state} path={path} canWrite={canWrite} isGone={isGone || isMissing} />
      {rejection && <RejectionNotice {...rejection} ready={ready} renew={renew} />}
      {(isGone || isMissing) && !rejection && <FileGoneNotice path={path} />}
      {text ? (
        <TextEditor
          key={path}
          live={live}
          text={text}
          path={path}
          line={line}
          readOnly={!canWrite || isGone || rejection !== undefined}
        />
      ) : (
        !rejection && !isMissing && <p className="pane-note">Opening…</p>
      )}
    </>
  );
}

interface RejectionNoticeProps {
  reason: string;
  isBranchGone: boolean;
  ready: boolean;
  renew(): void;
}

/** Why the host rejected the connection or an edit, and how to continue. */
function RejectionNotice({ reason, isBranchGone, ready, renew }: RejectionNoticeProps) {
  const { to, noun } = useWorkspace();
  if (isBranchGone) {
    return (
      <div role="alert">
        <Notice tone="warn" title={reason}>
          <p>
            Showing the last known content. Go to{" "}
            <Link href={to({ show: "files", branch: mainBranch })}>the files on {mainBranch}</Link>.
          </p>
        </Notice>
      </div>
    );
  }
  return (
    <div role="alert">
      <Notice tone="bad" title={ready ? "Your last change was rejected" : `Cannot open this ${noun}`}>
        <p>{reason}</p>
        <Button kind="quiet" onClick={renew}>
          {ready ? "Reload from host" : "Try again"}
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
  const initialize = useCallback(() => {
    // Undo only affects edits made in this editor, whatever others have written since.
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
  return (
    <EditorFrame path={path} label={`Contents of ${path}`} initialize={initialize} readOnly={readOnly} line={line} />
  );
}

/** A new file may be listed before its text has arrived. */
const missingAfterMs = 1_500;

/** Returns true once `value` has been true for `delayMs`. */
function useDelayed(value: boolean, delayMs: number): boolean {
  const [elapsed, setElapsed] = useState(false);
  useEffect(() => {
    if (!value) return setElapsed(false);
    const timer = setTimeout(() => setElapsed(true), delayMs);
    return () => clearTimeout(timer);
  }, [value, delayMs]);
  return value && elapsed;
}

/** The text of a file. If the file is deleted, the last text is kept; a file created again has a new text. */
function useText({ files }: LiveSession, path: string): { text: Y.Text | undefined; isGone: boolean } {
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
  return { text, isGone: text !== undefined && text !== present };
}

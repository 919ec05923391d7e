import { mainBranch } from "@thinkery/sdk";
import { Prec } from "@codemirror/state";
import { keymap, ViewPlugin } from "@codemirror/view";
import { useCallback, useEffect, useRef, useState } from "react";
import { yCollab, yUndoManagerKeymap } from "y-codemirror.next";
import * as Y from "yjs";
import { useStore } from "../../api/store.ts";
import { Link } from "../../frame/link.tsx";
import { Button } from "../../parts/button.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Gone } from "../gone.tsx";
import { useWorkspace } from "../open-workspace.tsx";
import { EditorFrame } from "./editor-frame.tsx";
import type { Live } from "./live.ts";
import { LiveLine } from "./live-line.tsx";
import { others } from "./others.ts";
import { useLive } from "./use-live.ts";

/** A text file that is edited by everybody who looks at it at once, the agent included. */
export function LiveEditor({ path, line }: { path: string; line: number | undefined }) {
  const workspace = useWorkspace();
  const { live, renew } = useLive(workspace, workspace.user);
  return live ? <Opened key={live.doc.guid} live={live} path={path} line={line} renew={renew} /> : <p className="pane-note">Opening…</p>;
}

interface OpenedProps {
  live: Live;
  path: string;
  line: number | undefined;
  renew(): void;
}

function Opened({ live, path, line, renew }: OpenedProps) {
  const { mayWrite, refresh } = useWorkspace();
  const { refusal, ready } = useStore(live.state);
  const { text, gone } = useText(live, path);
  const isMissed = useLater(ready && !text, patience);

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
      {refusal && <Refused {...refusal} ready={ready} renew={renew} />}
      {(gone || isMissed) && !refusal && <Gone path={path} />}
      {text ? (
        <Text key={path} live={live} text={text} path={path} line={line} readOnly={!mayWrite || gone || refusal !== undefined} />
      ) : (
        !refusal && !isMissed && <p className="pane-note">Opening…</p>
      )}
    </>
  );
}

interface RefusedProps {
  reason: string;
  gone: boolean;
  ready: boolean;
  renew(): void;
}

/** Why it does not go on, and how it could. */
function Refused({ reason, gone, ready, renew }: RefusedProps) {
  const { to } = useWorkspace();
  if (gone) {
    return (
      <div role="alert">
        <Notice tone="warn" title={reason}>
          <p>
            What you see is what it was. Go to <Link href={to({ show: "files", branch: mainBranch })}>the files on {mainBranch}</Link>.
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

function Text({ live, text, path, line, readOnly }: { live: Live; text: Y.Text; path: string; line: number | undefined; readOnly: boolean }) {
  const begin = useCallback(() => {
    // Only what was typed in this editor is undone by it, whatever others have written since.
    const undoManager = new Y.UndoManager(text);
    const ended = ViewPlugin.define(() => ({ destroy: () => undoManager.destroy() }));
    return { text: text.toString(), extensions: [Prec.high(keymap.of(yUndoManagerKeymap)), yCollab(text, null, { undoManager }), others(live, text), ended] };
  }, [live, text]);
  return <EditorFrame path={path} label={`Text of ${path}`} begin={begin} readOnly={readOnly} line={line} />;
}

/** A file that was just made may be listed before its text is here. */
const patience = 1_500;

/** Whether something has been so for a while. */
function useLater(now: boolean, wait: number): boolean {
  const [later, setLater] = useState(false);
  useEffect(() => {
    if (!now) return setLater(false);
    const timer = setTimeout(() => setLater(true), wait);
    return () => clearTimeout(timer);
  }, [now, wait]);
  return now && later;
}

/** The text of a file. One that is gone is still shown as it was last; one that comes back is another text. */
function useText({ files }: Live, path: string): { text: Y.Text | undefined; gone: boolean } {
  const [present, setPresent] = useState(() => files.get(path));
  const last = useRef<{ path: string; text: Y.Text }>(undefined);
  useEffect(() => {
    const look = () => setPresent(files.get(path));
    look();
    files.observe(look);
    return () => files.unobserve(look);
  }, [files, path]);
  if (present instanceof Y.Text) last.current = { path, text: present };
  const text = last.current?.path === path ? last.current.text : undefined;
  return { text, gone: text !== undefined && text !== present };
}

import type { Mode } from "@thinkery/sdk";
import type { Think } from "@thinkery/sdk/react";
import { useCallback, useEffect, useRef } from "react";
import { useHasScope } from "../api/login.ts";
import { Notice } from "../parts/notice.tsx";
import { Composer } from "./composer.tsx";
import { useDraft } from "./draft.ts";
import { ScriptedNotice } from "./scripted-notice.tsx";
import { StatusLine } from "./status-line.tsx";
import { Todos } from "./todos.tsx";
import { Transcript } from "./transcript.tsx";

interface ConversationProps {
  user: string;
  agency: string;
  agent: string;
  model: string | undefined;
  think: Think;
  running: boolean;
}

/** What was said, and a place to say something. */
export function Conversation({ user, agency, agent, model, think, running }: ConversationProps) {
  const { connection, error } = think;
  const [text, setText] = useDraft({ user, agency, agent });
  const mayTalk = useHasScope("chat");
  const field = useRef<HTMLTextAreaElement>(null);
  const cancel = connection.state === "open" && running ? () => think.cancel() : undefined;
  useEscape(mayTalk ? cancel : undefined);

  const edit = useCallback(
    (given: string) => {
      setText(given);
      field.current?.focus();
    },
    [setText],
  );

  return (
    <>
      {model?.startsWith("scripted:") && <ScriptedNotice model={model} />}
      <Transcript
        agent={agent}
        agency={agency}
        blobs={`/agency/${encodeURIComponent(agency)}/agent/${encodeURIComponent(agent)}/blobs`}
        think={think}
        onEdit={edit}
      />
      <Todos todos={think.todos} />
      <footer className="chat-foot">
        {error && (
          <div role="alert">
            <Notice tone="bad" title={error.message}>
              {error.advice ?? ""}
            </Notice>
          </div>
        )}
        {mayTalk && connection.state !== "refused" ? (
          <Composer
            agent={agent}
            text={text}
            onText={setText}
            running={running}
            onSend={(content: string, mode: Mode) => think.send(content, { mode }) !== undefined}
            onCancel={cancel}
            status={<StatusLine think={think} />}
            field={field}
          />
        ) : (
          <>
            <StatusLine think={think} />
            {!mayTalk && <p className="faint">You may read here, not talk.</p>}
          </>
        )}
      </footer>
    </>
  );
}

/** Escape cancels, unless something that lies over the page takes it. */
function useEscape(cancel: (() => void) | undefined): void {
  const latest = useRef(cancel);
  useEffect(() => {
    latest.current = cancel;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
      if (document.querySelector("dialog[open], .frame[data-drawer]")) return;
      latest.current?.();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

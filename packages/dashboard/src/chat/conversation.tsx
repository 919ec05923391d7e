import type { Mode } from "@thinkery/sdk";
import type { Think } from "@thinkery/sdk/react";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { buildAgentUrl, getAgentName } from "../api/agent-path.ts";
import { useHasScope } from "../api/login.ts";
import { Link } from "../frame/link.tsx";
import { buildPath, homePath } from "../frame/navigation.ts";
import { Notice } from "../parts/notice.tsx";
import { SubagentPanel } from "../subagents/subagent-panel.tsx";
import { SubagentsProvider } from "../subagents/subagents-context.ts";
import { TaskPanel } from "../tasks/task-panel.tsx";
import { findTextQuestion, useTextAnswer } from "../waits/question/text-answer.ts";
import { WaitsProvider } from "../waits/waits-context.ts";
import { sanitizeText } from "./call/sanitize-text.ts";
import { Composer } from "./composer.tsx";
import { useDraft } from "./draft.ts";
import { LifecycleButton } from "./lifecycle-button.tsx";
import { StatusLine } from "./status-line.tsx";
import { Todos } from "./todos.tsx";
import { Transcript } from "./transcript.tsx";

interface ConversationProps {
  user: string;
  agency: string;
  /** Name of the agent, or path of a sub-agent. */
  agent: string;
  model: string | undefined;
  think: Think;
  running: boolean;
  /** The turn to show first. */
  turn: string | undefined;
}

/** The transcript and the composer. */
export function Conversation({ user, agency, agent, model, think, running, turn }: ConversationProps) {
  const { connection, error } = think;
  const [text, setText] = useDraft({ user, agency, agent });
  const canChat = useHasScope("chat", agency);
  const field = useRef<HTMLTextAreaElement>(null);
  const cancel = connection.state === "open" && running ? () => think.cancel() : undefined;
  useEscape(canChat ? cancel : undefined);

  const waits = useMemo(() => ({ agency, agent, waits: think.waits }), [agency, agent, think.waits]);
  const question = findTextQuestion(think.waits);
  const answer = useTextAnswer({ agency, agent });
  const edit = useCallback(
    (message: string) => {
      setText(message);
      field.current?.focus();
    },
    [setText],
  );

  return (
    <>
      {model?.startsWith("scripted:") && <ScriptedNotice model={model} />}
      <SubagentsProvider value={think.subagents}>
        <WaitsProvider value={waits}>
          <Transcript
            agent={agent}
            agency={agency}
            blobs={`${buildAgentUrl(agency, agent)}/blobs`}
            think={think}
            turn={turn}
            onEdit={edit}
          />
        </WaitsProvider>
      </SubagentsProvider>
      {(think.todos.length > 0 || think.tasks.length > 0 || think.subagents.length > 0) && (
        <div className="plans">
          <Todos todos={think.todos} />
          <TaskPanel tasks={think.tasks} href={`${buildPath(agency, agent)}/tasks`} />
          <SubagentPanel agency={agency} agent={agent} subagents={think.subagents} streams={think.subagentStreams} />
        </div>
      )}
      <footer className="chat-foot">
        {error && (
          <div role="alert">
            <Notice tone="bad" title={sanitizeText(error.message)}>
              {error.advice ?? ""}
            </Notice>
          </div>
        )}
        {answer.failure !== undefined && (
          <div role="alert">
            <Notice tone="bad">{answer.failure}</Notice>
          </div>
        )}
        {canChat && connection.state !== "refused" ? (
          <Composer
            agent={getAgentName(agent)}
            text={text}
            onText={setText}
            running={running}
            onSend={(content: string, mode: Mode) => think.send(content, { mode }) !== undefined}
            onCancel={cancel}
            onAnswer={question && ((content: string) => answer.send(question, content))}
            stopped={think.status === "stopped"}
            status={
              <>
                <StatusLine think={think} />
                {think.status === "stopped" && <LifecycleButton agency={agency} agent={agent} status={think.status} />}
              </>
            }
            field={field}
          />
        ) : (
          <>
            <StatusLine think={think} />
            {!canChat && <p className="faint">You have read-only access.</p>}
          </>
        )}
      </footer>
    </>
  );
}

/** Makes clear that the replies come from a script, not from a model. */
function ScriptedNotice({ model }: { model: string }) {
  return (
    <p className="scripted">
      <strong>{model === "scripted:tour" ? "This is a scripted tour." : "Replies are scripted."}</strong> The agent, its
      tools and its memory are real; the replies are prewritten. Add an API key to use a real model.{" "}
      <Link href={homePath}>Learn how</Link>
    </p>
  );
}

/** Escape cancels the turn, unless a dialog or the drawer is open. */
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

import type { Agency, Agent, ListedBlueprint, Mode } from "@thinkery/sdk";
import { useCallback, useEffect, useRef } from "react";
import { health } from "../api/health.ts";
import { useMay } from "../api/login.ts";
import { useSource } from "../api/source.ts";
import { announce } from "../frame/announce.tsx";
import { Link } from "../frame/link.tsx";
import { pathTo } from "../frame/place.ts";
import { Notice } from "../parts/notice.tsx";
import { useTalk } from "../talk/use-talk.ts";
import { About } from "./about.tsx";
import { Composer } from "./composer.tsx";
import { useDraft } from "./draft.ts";
import { ScriptedNotice } from "./scripted-notice.tsx";
import { StatusLine } from "./status-line.tsx";
import { Todos } from "./todos.tsx";
import { Transcript } from "./transcript.tsx";
import { usageInFull, usageLine, useUsage } from "./usage.ts";

interface ChatProps {
  user: string;
  agency: Agency;
  agent: Agent;
  blueprint: ListedBlueprint | undefined;
}

/** An agent at work: what was said, what it is doing, and a place to say something. */
export function Chat({ user, agency, agent, blueprint }: ChatProps) {
  const pair = { user, agency: agency.id, agent: agent.name };
  const { talk, conversation, line } = useTalk(pair);
  const usage = useUsage(agency.id, agent.name, conversation.turnsSeen);
  const [text, setText] = useDraft(pair);
  const mayTalk = useMay("chat");
  const field = useRef<HTMLTextAreaElement>(null);
  const running = conversation.run !== undefined || conversation.status !== "idle";
  const { value: host } = useSource(health);
  const model = conversation.model ?? agent.model ?? blueprint?.model ?? host?.models?.default?.id;
  const cancel = talk && line.state === "open" && running ? () => talk.cancel(conversation.run) : undefined;

  useEscape(mayTalk ? cancel : undefined);
  const { lastSaid } = conversation;
  useEffect(() => {
    if (lastSaid) announce(`${agent.name}: ${lastSaid.text}`);
  }, [lastSaid, agent.name]);

  const edit = useCallback(
    (given: string) => {
      setText(given);
      field.current?.focus();
    },
    [setText],
  );

  return (
    <article className="chat">
      <header className="chat-head">
        <div className="chat-title">
          <p className="kicker">
            {conversation.title ? agent.name : "Agent"} in <Link href={pathTo(agency.id)}>{agency.name}</Link>
          </p>
          <h1>{conversation.title ?? agent.name}</h1>
        </div>
        <p className="chat-facts">
          {model && <span className="mono">{model}</span>}
          {usage && usage.total.calls > 0 && <span title={usageInFull(usage)}>{usageLine(usage)}</span>}
        </p>
        <About agent={agent} blueprint={blueprint} mayDelete={mayTalk} usage={usage ? usageInFull(usage) : "…"} />
      </header>
      {model?.startsWith("scripted:") && <ScriptedNotice model={model} />}
      <Transcript
        agent={agent.name}
        blobs={`/agency/${encodeURIComponent(agency.id)}/agent/${encodeURIComponent(agent.name)}/blobs`}
        conversation={conversation}
        line={line}
        talk={talk}
        onEdit={edit}
      />
      <Todos todos={conversation.todos} />
      <footer className="chat-foot">
        {conversation.trouble && (
          <div role="alert">
            <Notice tone="bad" title={conversation.trouble.message}>
              {conversation.trouble.advice ?? ""}
            </Notice>
          </div>
        )}
        {mayTalk && line.state !== "refused" ? (
          <Composer
            agent={agent.name}
            text={text}
            onText={setText}
            running={running}
            onSend={(content: string, mode: Mode) => talk?.say(content, mode) ?? false}
            onCancel={cancel}
            status={<StatusLine conversation={conversation} line={line} />}
            field={field}
          />
        ) : (
          <>
            <StatusLine conversation={conversation} line={line} />
            {!mayTalk && <p className="faint">You may read here, not talk.</p>}
          </>
        )}
      </footer>
    </article>
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

import type { Agency, Agent, ListedBlueprint, Mode } from "@thinkery/sdk";
import { useThink } from "@thinkery/sdk/react";
import { useCallback, useEffect, useRef } from "react";
import { onRedial } from "../api/follow.ts";
import { health } from "../api/health.ts";
import { call } from "../api/host.ts";
import { useMay } from "../api/login.ts";
import { useSource } from "../api/source.ts";
import { announce } from "../frame/announce.tsx";
import { Link } from "../frame/link.tsx";
import { pathTo } from "../frame/place.ts";
import { Notice } from "../parts/notice.tsx";
import { About } from "./about.tsx";
import { Composer } from "./composer.tsx";
import { ContextMeter } from "./context-meter.tsx";
import { useDraft } from "./draft.ts";
import { SpokenNote } from "./note-view.tsx";
import { outboxOf } from "./outbox.ts";
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
  const think = useThink({ agency: agency.id, agent: agent.name, client: { call }, outbox: outboxOf(pair) });
  const { connection, reconnect, trouble, title, lastSaid } = think;
  const usage = useUsage(agency.id, agent.name, think.turnsSeen);
  const [text, setText] = useDraft(pair);
  const mayTalk = useMay("chat");
  const field = useRef<HTMLTextAreaElement>(null);
  const running = think.run !== undefined || think.status !== "idle";
  const { value: host } = useSource(health);
  const model = think.model ?? agent.model ?? blueprint?.model ?? host?.models?.default?.id;
  const cancel = connection.state === "open" && running ? () => think.cancel() : undefined;

  useEscape(mayTalk ? cancel : undefined);
  useEffect(() => onRedial(reconnect), [reconnect]);
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
            {title ? agent.name : "Agent"} in <Link href={pathTo(agency.id)}>{agency.name}</Link>
          </p>
          <h1>{title ?? agent.name}</h1>
        </div>
        <p className="chat-facts">
          <ContextMeter context={think.context} />
          {model && <span className="mono">{model}</span>}
          {usage && usage.total.calls > 0 && <span title={usageInFull(usage)}>{usageLine(usage)}</span>}
        </p>
        <About agent={agent} blueprint={blueprint} mayDelete={mayTalk} usage={usage} />
      </header>
      {model?.startsWith("scripted:") && <ScriptedNotice model={model} />}
      <Transcript
        agent={agent.name}
        agency={agency.id}
        blobs={`/agency/${encodeURIComponent(agency.id)}/agent/${encodeURIComponent(agent.name)}/blobs`}
        think={think}
        onEdit={edit}
      />
      <SpokenNote note={think.lastNote} />
      <Todos todos={think.todos} />
      <footer className="chat-foot">
        {trouble && (
          <div role="alert">
            <Notice tone="bad" title={trouble.message}>
              {trouble.advice ?? ""}
            </Notice>
          </div>
        )}
        {mayTalk && connection.state !== "refused" ? (
          <Composer
            agent={agent.name}
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

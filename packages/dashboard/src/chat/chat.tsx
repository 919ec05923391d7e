import type { Agency, Agent, ListedBlueprint } from "@thinkery/sdk";
import { useThink } from "@thinkery/sdk/react";
import { useEffect } from "react";
import { onRedial } from "../api/follow.ts";
import { health } from "../api/health.ts";
import { call } from "../api/host.ts";
import { useMay } from "../api/login.ts";
import { useSource } from "../api/source.ts";
import { announce } from "../frame/announce.tsx";
import type { FilesPlace } from "../frame/files-place.ts";
import { Link } from "../frame/link.tsx";
import { pathTo } from "../frame/place.ts";
import { lazily } from "../parts/lazily.tsx";
import { About } from "./about.tsx";
import { ContextMeter } from "./context-meter.tsx";
import { SpokenNote } from "./note-view.tsx";
import { outboxOf } from "./outbox.ts";
import { Tabs } from "./tabs.tsx";
import { Talk } from "./talk.tsx";
import { usageInFull, usageLine, useUsage } from "./usage.ts";

interface ChatProps {
  user: string;
  agency: Agency;
  agent: Agent;
  blueprint: ListedBlueprint | undefined;
  /** Its files are looked at, not its conversation. */
  files: FilesPlace | undefined;
}

const FilesView = lazily(() => import("../files/files-view.tsx").then(({ FilesView }) => FilesView));

/** An agent at work: its conversation, or its files. */
export function Chat({ user, agency, agent, blueprint, files }: ChatProps) {
  const pair = { user, agency: agency.id, agent: agent.name };
  const think = useThink({ agency: agency.id, agent: agent.name, client: { call }, outbox: outboxOf(pair) });
  const { reconnect, title, lastSaid } = think;
  const usage = useUsage(agency.id, agent.name, think.turnsSeen);
  const mayTalk = useMay("chat");
  const running = think.run !== undefined || think.status !== "idle";
  const { value: host } = useSource(health);
  const model = think.model ?? agent.model ?? blueprint?.model ?? host?.models?.default?.id;

  useEffect(() => onRedial(reconnect), [reconnect]);
  useEffect(() => {
    if (lastSaid) announce(`${agent.name}: ${lastSaid.text}`);
  }, [lastSaid, agent.name]);

  return (
    <article className="chat" data-tab={files ? "files" : "talk"}>
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
        <Tabs agency={agency.id} agent={agent.name} files={files !== undefined} running={running} />
      </header>
      {files ? (
        <FilesView agency={agency.id} agent={agent.name} user={user} place={files} lastChanged={think.lastChanged} />
      ) : (
        <Talk user={user} agency={agency.id} agent={agent.name} model={model} think={think} running={running} />
      )}
      <SpokenNote note={think.lastNote} />
    </article>
  );
}

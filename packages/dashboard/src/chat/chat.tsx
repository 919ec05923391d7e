import type { Agency, Agent, ListedBlueprint } from "@thinkery/sdk";
import { useThink } from "@thinkery/sdk/react";
import { useEffect } from "react";
import { onReconnect } from "../api/follow.ts";
import { health } from "../api/health.ts";
import { call } from "../api/host.ts";
import { useHasScope } from "../api/login.ts";
import { useSource } from "../api/source.ts";
import { announce } from "../frame/announce.tsx";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";
import { ViewTabs } from "../frame/view-tabs.tsx";
import type { ViewMatch } from "../views/define-view.tsx";
import { useViews } from "../views/view-registry.ts";
import { About } from "./about.tsx";
import { ContextMeter } from "./context-meter.tsx";
import { SpokenNote } from "./note-view.tsx";
import { createOutbox } from "./outbox.ts";
import { formatUsageDetails, formatUsage, useUsage } from "./usage.ts";

interface ChatProps {
  user: string;
  agency: Agency;
  agent: Agent;
  blueprint: ListedBlueprint | undefined;
  match: ViewMatch<"agent">;
}

/** An agent with one of its views. The connection to it stays open from view to view. */
export function Chat({ user, agency, agent, blueprint, match }: ChatProps) {
  const { views } = useViews();
  const pair = { user, agency: agency.id, agent: agent.name };
  const think = useThink({ agency: agency.id, agent: agent.name, client: { call }, outbox: createOutbox(pair) });
  const { reconnect, title, lastSaid } = think;
  const usage = useUsage(agency.id, agent.name, think.turnsSeen);
  const mayTalk = useHasScope("chat");
  const running = think.run !== undefined || think.status !== "idle";
  const { value: host } = useSource(health);
  const model = think.model ?? agent.model ?? blueprint?.model ?? host?.models?.default?.id;
  const base = buildPath(agency.id, agent.name);
  const props = { user, agency, agent, blueprint, model, think, running };

  useEffect(() => onReconnect(reconnect), [reconnect]);
  useEffect(() => {
    if (lastSaid) announce(`${agent.name}: ${lastSaid.text}`);
  }, [lastSaid, agent.name]);

  return (
    <article className="chat" data-view={match.view.name}>
      <header className="chat-head">
        <div className="chat-title">
          <p className="kicker">
            {title ? agent.name : "Agent"} in <Link href={buildPath(agency.id)}>{agency.name}</Link>
          </p>
          <h1>{title ?? agent.name}</h1>
        </div>
        <p className="chat-facts">
          <ContextMeter context={think.context} />
          {model && <span className="mono">{model}</span>}
          {usage && usage.total.calls > 0 && <span title={formatUsageDetails(usage)}>{formatUsage(usage)}</span>}
        </p>
        <About agent={agent} blueprint={blueprint} mayDelete={mayTalk} usage={usage} />
        <ViewTabs of={agent.name} views={views.agent} current={match.view} base={base} props={props} />
      </header>
      {match.render(props)}
      <SpokenNote note={think.lastNote} />
    </article>
  );
}

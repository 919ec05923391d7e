import type { Agency, Agent, ListedBlueprint } from "@thinkery/sdk";
import { useThink } from "@thinkery/sdk/react";
import { useEffect } from "react";
import { runsUserCode } from "../agent-code/runs-user-code.ts";
import { getAgentName, getParentPath } from "../api/agent-path.ts";
import { onReconnect } from "../api/follow.ts";
import { health } from "../api/health.ts";
import { call, openSocket } from "../api/host.ts";
import { useHasScope } from "../api/login.ts";
import { useSource } from "../api/source.ts";
import { announce } from "../frame/announce.tsx";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";
import { ViewTabs } from "../frame/view-tabs.tsx";
import { isAvailable, type ViewMatch } from "../views/define-view.tsx";
import { MissingView } from "../views/missing.tsx";
import { useViews } from "../views/view-registry.ts";
import { About } from "./about.tsx";
import { sanitizeText } from "./call/sanitize-text.ts";
import { ContextMeter } from "./context-meter.tsx";
import { NoteAnnouncer } from "./note-view.tsx";
import { createOutbox } from "./outbox.ts";
import { formatUsageDetails, formatUsage, useUsage } from "./usage.ts";

interface ChatProps {
  user: string;
  agency: Agency;
  agent: Agent;
  blueprint: ListedBlueprint | undefined;
  match: ViewMatch<"agent">;
}

/** An agent with one of its views. The connection stays open when the view changes. */
export function Chat({ user, agency, agent, blueprint, match }: ChatProps) {
  const { views } = useViews();
  const key = { user, agency: agency.id, agent: agent.name };
  const think = useThink({
    agency: agency.id,
    agent: agent.name,
    client: { call },
    connect: openSocket,
    outbox: createOutbox(key),
  });
  const { reconnect, title, lastMessage } = think;
  const usage = useUsage(agency.id, agent.name, think.turnCount);
  const canChat = useHasScope("chat", agency.id);
  const running = think.run !== undefined || (think.status !== "idle" && think.status !== "stopped");
  const { value: host } = useSource(health);
  // The code of a user chooses a model for each call, if any.
  const model = runsUserCode({ agent, blueprint })
    ? undefined
    : think.model || (agent.model ?? blueprint?.model ?? host?.models?.default?.id);
  const base = buildPath(agency.id, agent.name);
  const name = getAgentName(agent.name);
  const parent = getParentPath(agent.name);
  const props = { user, agency, agent, blueprint, model, think, running };

  useEffect(() => onReconnect(reconnect), [reconnect]);
  useEffect(() => {
    if (lastMessage) announce(`${name}: ${lastMessage.text}`);
  }, [lastMessage, name]);

  return (
    <article className="chat" data-view={match.view.name}>
      <header className="chat-head">
        <div className="chat-title">
          <p className="kicker">
            {title ? name : parent === undefined ? "Agent" : "Sub-agent"}
            {parent !== undefined && (
              <>
                {" "}
                of <Link href={buildPath(agency.id, parent)}>{getAgentName(parent)}</Link>
              </>
            )}{" "}
            in <Link href={buildPath(agency.id)}>{agency.name}</Link>
          </p>
          <h1>{title === undefined ? name : sanitizeText(title)}</h1>
        </div>
        <p className="chat-facts">
          <ContextMeter context={think.context} />
          {model && <span className="mono">{model}</span>}
          {usage && usage.total.calls > 0 && <span title={formatUsageDetails(usage)}>{formatUsage(usage)}</span>}
        </p>
        <About agent={agent} blueprint={blueprint} status={think.status} canManage={canChat} usage={usage} />
        <ViewTabs of={name} views={views.agent} current={match.view} base={base} props={props} />
      </header>
      {isAvailable(match.view, props) ? (
        match.render(props)
      ) : (
        <MissingView title={`${name} has no view “${match.view.label}”`} />
      )}
      <NoteAnnouncer note={think.lastNote} />
    </article>
  );
}

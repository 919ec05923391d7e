import { Conversation } from "../../chat/conversation.tsx";
import { type AgentViewProps, defineView } from "../define-view.tsx";
import { indexAddress } from "../view-address.ts";

export const view = defineView({
  scope: "agent",
  name: "conversation",
  label: "Conversation",
  order: 0,
  address: indexAddress,
  Badge: RunningDot,
  Component: ConversationView,
});

function ConversationView({ user, agency, agent, model, think, running }: AgentViewProps) {
  return (
    <Conversation user={user} agency={agency.id} agent={agent.name} model={model} think={think} running={running} />
  );
}

/** Shown on the tab while another view is open; the conversation itself shows that the agent is running. */
function RunningDot({ running, current }: AgentViewProps & { current: boolean }) {
  if (!running || current) return null;
  return <span className="dot" data-tone="ok" data-busy role="img" aria-label="running" />;
}

import { Conversation } from "../../chat/conversation.tsx";
import { type AgentViewProps, defineView } from "../define-view.tsx";
import type { ViewAddress } from "../view-address.ts";

/** The turn to show first; the latest messages without one. */
interface ConversationParams {
  turn?: string;
}

const conversationAddress: ViewAddress<ConversationParams> = {
  segments: [],
  initial: {},
  parse(segments, query) {
    const turn = query.get("turn");
    return segments.length > 0 ? undefined : turn ? { turn } : {};
  },
  build: ({ turn }) => (turn === undefined ? "" : `?turn=${encodeURIComponent(turn)}`),
};

export const view = defineView({
  scope: "agent",
  name: "conversation",
  label: "Conversation",
  order: 0,
  address: conversationAddress,
  Badge: RunningDot,
  Component: ConversationView,
});

function ConversationView(props: AgentViewProps & { params: ConversationParams }) {
  const { user, agency, agent, model, think, running, params } = props;
  return (
    <Conversation
      user={user}
      agency={agency.id}
      agent={agent.name}
      model={model}
      think={think}
      running={running}
      turn={params.turn}
    />
  );
}

/** Shown on the tab while another view is open; the conversation itself shows that the agent is running. */
function RunningDot({ running, current }: AgentViewProps & { current: boolean }) {
  if (!running || current) return null;
  return <span className="dot" data-tone="ok" data-busy role="img" aria-label="running" />;
}

import { runsUserCode } from "../../agent-code/runs-user-code.ts";
import { createLazyView } from "../../parts/lazy-component.tsx";
import { type AgentViewProps, defineView } from "../define-view.tsx";
import { createSegmentAddress } from "../view-address.ts";

const CodeView = createLazyView(() => import("../../agent-code/code-view.tsx").then(({ CodeView }) => CodeView));

export const view = defineView({
  scope: "agent",
  name: "code",
  label: "Code",
  order: 40,
  address: createSegmentAddress("code"),
  isAvailable: runsUserCode,
  Component: AgentCode,
});

function AgentCode({ agency, agent, think }: AgentViewProps) {
  return <CodeView agency={agency.id} agent={agent.name} turnCount={think.turnCount} />;
}

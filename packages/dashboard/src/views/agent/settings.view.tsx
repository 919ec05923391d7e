import { runsUserCode } from "../../agent-code/runs-user-code.ts";
import { createLazyView } from "../../parts/lazy-component.tsx";
import { type AgentViewProps, defineView } from "../define-view.tsx";
import { createSegmentAddress } from "../view-address.ts";

const SettingsView = createLazyView(() =>
  import("../../settings/settings-view.tsx").then(({ SettingsView }) => SettingsView),
);

export const view = defineView({
  scope: "agent",
  name: "settings",
  label: "Settings",
  order: 50,
  address: createSegmentAddress("settings"),
  isAvailable: runsUserCode,
  Component: AgentSettings,
});

function AgentSettings({ agency, agent }: AgentViewProps) {
  return <SettingsView agency={agency.id} agent={agent.name} />;
}

import { createLazyView } from "../../parts/lazy-component.tsx";
import { type AgentViewProps, defineView } from "../define-view.tsx";
import { createSegmentAddress } from "../view-address.ts";

const SchedulesView = createLazyView(() =>
  import("../../schedules/schedules-view.tsx").then(({ SchedulesView }) => SchedulesView),
);

export const view = defineView({
  scope: "agent",
  name: "schedules",
  label: "Schedules",
  order: 30,
  address: createSegmentAddress("schedules"),
  Component: AgentSchedules,
});

function AgentSchedules({ agency, agent, think }: AgentViewProps) {
  return <SchedulesView agency={agency.id} agent={agent.name} think={think} />;
}

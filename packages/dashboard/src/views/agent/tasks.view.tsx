import { createLazyView } from "../../parts/lazy-component.tsx";
import { type AgentViewProps, defineView } from "../define-view.tsx";
import { createSegmentAddress } from "../view-address.ts";

const TasksView = createLazyView(() => import("../../tasks/tasks-view.tsx").then(({ TasksView }) => TasksView));

export const view = defineView({
  scope: "agent",
  name: "tasks",
  label: "Tasks",
  order: 20,
  address: createSegmentAddress("tasks"),
  Component: AgentTasks,
});

function AgentTasks({ agency, agent, think }: AgentViewProps) {
  return <TasksView agency={agency.id} agent={agent.name} think={think} />;
}

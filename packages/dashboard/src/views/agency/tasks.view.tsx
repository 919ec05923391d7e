import { createLazyView } from "../../parts/lazy-component.tsx";
import { defineView } from "../define-view.tsx";
import { createSegmentAddress } from "../view-address.ts";

const TeamTasksView = createLazyView(() =>
  import("../../team-tasks/team-tasks-view.tsx").then(({ TeamTasksView }) => TeamTasksView),
);

export const view = defineView({
  scope: "agency",
  name: "tasks",
  label: "Tasks",
  order: 6,
  address: createSegmentAddress("~tasks"),
  Component: TeamTasksView,
});

import { filesAddress, type FilesPlace } from "../../frame/files-place.ts";
import { createLazyView } from "../../parts/lazy-component.tsx";
import { type AgentViewProps, defineView } from "../define-view.tsx";

const FilesView = createLazyView(() => import("../../files/files-view.tsx").then(({ FilesView }) => FilesView));

export const view = defineView({
  scope: "agent",
  name: "files",
  label: "Files",
  order: 10,
  address: filesAddress,
  title: ({ path, show }) => (show === "history" ? `History${path ? ` for ${path}` : ""}` : (path ?? "Files")),
  Component: AgentFiles,
});

function AgentFiles({ user, agency, agent, think, params }: AgentViewProps & { params: FilesPlace }) {
  return <FilesView agency={agency.id} agent={agent.name} user={user} place={params} lastChanged={think.lastChanged} />;
}

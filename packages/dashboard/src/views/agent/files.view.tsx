import { type FilesPlace, filesAddress, parseFilesAddress } from "../../frame/files-place.ts";
import { lazyView } from "../../parts/lazily.tsx";
import { type AgentViewProps, defineView } from "../define-view.tsx";

const FilesView = lazyView(() => import("../../files/files-view.tsx").then(({ FilesView }) => FilesView));

export const view = defineView({
  scope: "agent",
  name: "files",
  label: "Files",
  order: 10,
  address: {
    segments: ["files", "history"],
    initial: { show: "files" },
    parse: parseFilesAddress,
    build: filesAddress,
  },
  title: ({ path = "Files", show }) => (show === "history" ? `${path}, history` : path),
  Component: AgentFiles,
});

function AgentFiles({ user, agency, agent, think, params }: AgentViewProps & { params: FilesPlace }) {
  return (
    <FilesView agency={agency.id} agent={agent.name} user={user} place={params} lastChanged={think.lastChanged} />
  );
}

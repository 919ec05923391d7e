import { documentsAddress, type FilesPlace } from "../../frame/files-place.ts";
import { createLazyView } from "../../parts/lazy-component.tsx";
import { type AgencyViewProps, defineView } from "../define-view.tsx";

const DocumentsView = createLazyView(() =>
  import("../../files/documents-view.tsx").then(({ DocumentsView }) => DocumentsView),
);

export const view = defineView({
  scope: "agency",
  name: "documents",
  label: "Documents",
  order: 8,
  address: documentsAddress,
  title: ({ path, show }) => (show === "history" ? `History${path ? ` of ${path}` : ""}` : (path ?? "Documents")),
  Component: ({ user, agency, params }: AgencyViewProps & { params: FilesPlace }) => (
    <DocumentsView user={user} agency={agency} place={params} />
  ),
});

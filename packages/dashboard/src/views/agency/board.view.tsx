import { useStore } from "../../api/store.ts";
import { useTeam } from "../../api/team/team.ts";
import { boardSegment } from "../../frame/navigation.ts";
import { createLazyView } from "../../parts/lazy-component.tsx";
import { needsPerson } from "../../team/describe-agent.ts";
import { type AgencyViewProps, defineView } from "../define-view.tsx";
import { createSegmentAddress } from "../view-address.ts";

const BoardView = createLazyView(() => import("../../board/board-view.tsx").then(({ BoardView }) => BoardView));

export const view = defineView({
  scope: "agency",
  name: "board",
  label: "Board",
  order: 2,
  address: createSegmentAddress(boardSegment),
  Badge: ActivityDot,
  Component: BoardView,
});

/** Shown on the tab while another view is open: somebody works, or waits for a person. */
function ActivityDot({ agency, current }: AgencyViewProps & { current: boolean }) {
  const { agents } = useStore(useTeam(agency.id).roster);
  if (current) return null;
  if (agents.some(needsPerson)) return <span className="dot" data-tone="warn" role="img" aria-label="waits for you" />;
  if (!agents.some(({ status }) => status === "working")) return null;
  return <span className="dot" data-tone="ok" data-busy role="img" aria-label="working" />;
}

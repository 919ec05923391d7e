import { buildPath } from "../frame/navigation.ts";
import { ViewTabs } from "../frame/view-tabs.tsx";
import type { AgencyViewProps, ViewMatch } from "./define-view.tsx";
import { useViews } from "./view-registry.ts";

/** A view of an agency, below the tabs for its views. */
export function AgencyPage({ match, ...props }: AgencyViewProps & { match: ViewMatch<"agency"> }) {
  const { views } = useViews();
  const { id, name } = props.agency;
  return (
    <>
      <header className="agency-head">
        <ViewTabs of={name} views={views.agency} current={match.view} base={buildPath(id)} props={props} />
      </header>
      {match.render(props)}
    </>
  );
}

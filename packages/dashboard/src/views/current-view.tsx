import { getAgenciesSource } from "../api/agencies.ts";
import { useSource } from "../api/source.ts";
import { Notice } from "../parts/notice.tsx";
import { AgencyPage } from "./agency-page.tsx";
import { AgentPage } from "./agent-page.tsx";
import { MissingView } from "./missing.tsx";
import type { Place } from "./view-registry.ts";

/** Renders the view of a place. Views of an agency are only rendered if the agency exists. */
export function CurrentView({ user, place }: { user: string; place: Place }) {
  const source = getAgenciesSource(user);
  const { value, error } = useSource(source);

  if (place.scope === "none") return <MissingView title="Page not found" />;
  if (place.scope === "host") return place.match.render({ user });
  if (!value) {
    if (!error) return <p className="view faint">Loading…</p>;
    return (
      <div className="view">
        <Notice tone="bad" title="Failed to load agencies" onRetry={() => void source.reload()}>
          {error.message}
        </Notice>
      </div>
    );
  }

  const agency = value.items.find((item) => item.id === place.agency);
  if (!agency) return <MissingView title={`Agency “${place.agency}” not found`} />;
  if (place.scope === "agency") return <AgencyPage key={agency.id} agency={agency} user={user} match={place.match} />;
  const { agent, match } = place;
  return <AgentPage key={`${agency.id}~${agent}`} agency={agency} name={agent} user={user} match={match} />;
}

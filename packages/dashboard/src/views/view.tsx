import { agenciesOf } from "../api/agencies.ts";
import { useSource } from "../api/source.ts";
import type { Place } from "../frame/place.ts";
import { Notice } from "../parts/notice.tsx";
import { AgencyView } from "./agency.tsx";
import { AgentView } from "./agent.tsx";
import { HomeView } from "./home.tsx";
import { MissingView } from "./missing.tsx";
import { UsageView } from "./usage.tsx";

/** The view of a place. An agency's own views get an agency that is known to exist. */
export function View({ user, place }: { user: string; place: Place }) {
  const source = agenciesOf(user);
  const { value, error } = useSource(source);

  if (place.view === "usage" && place.agency === undefined) return <UsageView user={user} />;
  if (place.view === "home") return <HomeView user={user} />;
  if (place.view === "lost") return <MissingView title="Nothing is at this address." />;
  if (!value) {
    if (!error) return <p className="view faint">Loading…</p>;
    return (
      <div className="view">
        <Notice tone="bad" title="The agencies could not be loaded." onRetry={() => void source.reload()}>
          {error.message}
        </Notice>
      </div>
    );
  }

  const agency = value.items.find((item) => item.id === place.agency);
  if (!agency) return <MissingView title={`There is no agency “${place.agency}”.`} />;
  if (place.view === "usage") return <UsageView key={agency.id} user={user} agency={agency} />;
  if (place.view === "agency") return <AgencyView key={agency.id} agency={agency} user={user} />;
  return <AgentView key={`${agency.id}~${place.agent}`} agency={agency} name={place.agent} user={user} files={place.files} />;
}

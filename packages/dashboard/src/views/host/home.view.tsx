import { useEffect, useState } from "react";
import { getAgenciesSource, getContentsSource } from "../../api/agencies.ts";
import { health } from "../../api/health.ts";
import { useHasScope } from "../../api/login.ts";
import { useSource } from "../../api/source.ts";
import { Link } from "../../frame/link.tsx";
import { buildPath } from "../../frame/navigation.ts";
import { Button } from "../../parts/button.tsx";
import { DateTime } from "../../parts/date-time.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Notice } from "../../parts/notice.tsx";
import { defineView, type HostViewProps } from "../define-view.tsx";
import { HostPanel } from "../host.tsx";
import { NewAgency } from "../new-agency.tsx";
import { NewAgent } from "../new-agent.tsx";
import { StartTour } from "../start-tour.tsx";
import { indexAddress } from "../view-address.ts";

export const view = defineView({
  scope: "host",
  name: "home",
  label: "Home",
  order: 0,
  address: indexAddress,
  Component: HomeView,
});

function HomeView({ user }: HostViewProps) {
  const source = getAgenciesSource(user);
  const { value, error } = useSource(source);
  const { value: healthValue } = useSource(health);
  const canCreate = useHasScope("chat");
  const [creating, setCreating] = useState<"agency" | "agent">();
  const first = value?.items[0];
  const firstContents = useSource(first && getContentsSource(first.id)).value;
  const isNew = healthValue?.agents === 0 && firstContents?.agents.items.length === 0;
  const close = () => setCreating(undefined);

  // Health is only polled; reload it on arrival so that the counts are current.
  useEffect(() => void health.reload(), []);

  return (
    <article className="view">
      <header className="view-head">
        <div>
          <h1>Welcome{user === "owner" ? "" : `, ${user}`}</h1>
          <p className="lead">Agents live in agencies. They keep their state and continue after every restart.</p>
        </div>
      </header>

      {isNew && first && (
        <Empty
          title="See an agent in action"
          action={
            canCreate && (
              <div className="actions">
                <StartTour user={user} agency={first.id} />
                <Button onClick={() => setCreating("agent")}>
                  <Icon name="plus" /> New agent in {first.name}
                </Button>
              </div>
            )
          }
        >
          <p>
            The tour creates an agent and sends it a first message. Or create your own. From a terminal:{" "}
            <code>thinkery new alice</code>
          </p>
        </Empty>
      )}

      <section aria-labelledby="agencies">
        <div className="section-head">
          <h2 id="agencies">Agencies</h2>
          {canCreate && (
            <Button onClick={() => setCreating("agency")}>
              <Icon name="plus" /> New agency
            </Button>
          )}
        </div>
        {error && !value && (
          <Notice tone="bad" title="Failed to load agencies" onRetry={() => void source.reload()}>
            {error.message}
          </Notice>
        )}
        {value?.items.length === 0 && (
          <Empty title="No agencies yet">
            <p>An agency groups the agents of a project or team, isolated from other agencies.</p>
          </Empty>
        )}
        <ul className="cards">
          {value?.items.map((agency) => (
            <li key={agency.id}>
              <Link className="card" href={buildPath(agency.id)}>
                <span className="card-title">{agency.name}</span>
                {agency.name !== agency.id && <span className="mono faint">{agency.id}</span>}
                <span className="faint">
                  created <DateTime at={agency.createdAt} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </section>

      <HostPanel />

      {creating === "agency" && <NewAgency user={user} onClose={close} />}
      {creating === "agent" && first && <NewAgent agency={first} onClose={close} />}
    </article>
  );
}

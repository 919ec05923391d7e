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
  const { value: state } = useSource(health);
  const mayCreate = useHasScope("chat");
  const [creating, setCreating] = useState<"agency" | "agent">();
  const first = value?.items[0];
  const inFirst = useSource(first && getContentsSource(first.id)).value;
  const untouched = state?.agents === 0 && inFirst?.agents.items.length === 0;
  const close = () => setCreating(undefined);

  // The counts are only asked for now and then; whoever comes here wants them as they are.
  useEffect(() => void health.reload(), []);

  return (
    <article className="view">
      <header className="view-head">
        <div>
          <h1>Welcome{user === "owner" ? "" : `, ${user}`}</h1>
          <p className="lead">Agents live in agencies. They keep what they know and go on after every restart.</p>
        </div>
      </header>

      {untouched && first && (
        <Empty
          title="See an agent at work"
          action={
            mayCreate && (
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
            The tour makes an agent and says hello to it; what you see then is how every agent works. Or make one of
            your own: give it a name and it is there to stay. From a terminal: <code>thinkery new alice</code>
          </p>
        </Empty>
      )}

      <section aria-labelledby="agencies">
        <div className="section-head">
          <h2 id="agencies">Agencies</h2>
          {mayCreate && (
            <Button onClick={() => setCreating("agency")}>
              <Icon name="plus" /> New agency
            </Button>
          )}
        </div>
        {error && !value && (
          <Notice tone="bad" title="The agencies could not be loaded." onRetry={() => void source.reload()}>
            {error.message}
          </Notice>
        )}
        {value?.items.length === 0 && (
          <Empty title="No agencies yet">
            <p>An agency keeps the agents of one project or one team together, apart from all others.</p>
          </Empty>
        )}
        <ul className="cards">
          {value?.items.map((agency) => (
            <li key={agency.id}>
              <Link className="card" href={buildPath(agency.id)}>
                <span className="card-title">{agency.name}</span>
                {agency.name !== agency.id && <span className="mono faint">{agency.id}</span>}
                <span className="faint">
                  since <DateTime at={agency.createdAt} />
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

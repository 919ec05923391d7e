import { useState } from "react";
import { getContentsSource } from "../../api/agencies.ts";
import { useDefaultAgency, useHasScope } from "../../api/login.ts";
import { useSource } from "../../api/source.ts";
import { Button } from "../../parts/button.tsx";
import { DateTime } from "../../parts/date-time.tsx";
import { DescriptionList } from "../../parts/description-list.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Notice } from "../../parts/notice.tsx";
import { AgentTable } from "../agent-table.tsx";
import { BlueprintList } from "../blueprint-list.tsx";
import { type AgencyViewProps, defineView } from "../define-view.tsx";
import { DeleteAgency } from "../delete-agency.tsx";
import { NewAgent } from "../new-agent.tsx";
import { indexAddress } from "../view-address.ts";

export const view = defineView({
  scope: "agency",
  name: "agents",
  label: "Agents",
  order: 0,
  address: indexAddress,
  Component: AgentsView,
});

function AgentsView({ agency, user }: AgencyViewProps) {
  const source = getContentsSource(agency.id);
  const { value, error } = useSource(source);
  const canChange = useHasScope("chat", agency.id);
  const canDelete = useHasScope("admin");
  const defaultAgency = useDefaultAgency();
  const [dialog, setDialog] = useState<"create" | "delete">();
  const close = () => setDialog(undefined);
  const create = canChange && (
    <Button kind="main" onClick={() => setDialog("create")}>
      <Icon name="plus" /> New agent
    </Button>
  );

  return (
    <article className="view">
      <header className="view-head">
        <div>
          <p className="kicker">Agency</p>
          <h1>{agency.name}</h1>
        </div>
        <div className="actions">
          {/* The default agency always exists and cannot be deleted, and others only by their owner. */}
          {canDelete && agency.id !== defaultAgency && agency.scopes === undefined && (
            <Button onClick={() => setDialog("delete")}>
              <Icon name="trash" /> Delete
            </Button>
          )}
        </div>
      </header>
      <DescriptionList
        of={[
          ["ID", <span className="mono">{agency.id}</span>],
          ["Owner", agency.owner],
          ["Created", <DateTime at={agency.createdAt} />],
        ]}
      />

      {error && (
        <Notice tone="bad" title="Failed to load this agency" onRetry={() => void source.reload()}>
          {error.message}
        </Notice>
      )}
      {value && (
        <>
          <section aria-labelledby="agents">
            <div className="section-head">
              <h2 id="agents">
                Agents{" "}
                <span className="count">
                  {value.agents.items.length}
                  {value.agents.more && "+"}
                </span>
              </h2>
              {value.agents.items.length > 0 && create}
            </div>
            <AgentTable agency={agency.id} agents={value.agents} create={create} />
          </section>
          <section aria-labelledby="blueprints">
            <div className="section-head">
              <h2 id="blueprints">
                Blueprints <span className="count">{value.blueprints.length}</span>
              </h2>
            </div>
            <BlueprintList blueprints={value.blueprints} />
          </section>
        </>
      )}
      {!value && !error && <p className="faint">Loading…</p>}

      {dialog === "create" && <NewAgent agency={agency} onClose={close} />}
      {dialog === "delete" && (
        <DeleteAgency agency={agency} user={user} agents={value?.agents.items.length ?? 0} onClose={close} />
      )}
    </article>
  );
}

import { type Agency, isThinkeryError } from "@thinkery/sdk";
import { useState } from "react";
import { contentsOf, useAgent } from "../api/agencies.ts";
import { useMay } from "../api/login.ts";
import { useSource } from "../api/source.ts";
import { Link } from "../frame/link.tsx";
import { pathTo } from "../frame/place.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Particulars } from "../parts/particulars.tsx";
import { When } from "../parts/when.tsx";
import { DeleteAgent } from "./delete-agent.tsx";
import { MissingView } from "./missing.tsx";

export function AgentView({ agency, name }: { agency: Agency; name: string }) {
  const { value: agent, error } = useAgent(agency.id, name);
  const around = contentsOf(agency.id);
  const blueprint = useSource(around).value?.blueprints.find((item) => item.name === agent?.blueprint);
  const mayDelete = useMay("chat");
  const [deleting, setDeleting] = useState(false);

  // A name that could not be an agent's is answered with bad_request: for a person, it is just not there.
  if (isThinkeryError(error) && (error.code === "not_found" || error.code === "bad_request")) {
    return <MissingView title={`There is no agent “${name}” in ${agency.name}.`} />;
  }

  return (
    <article className="view">
      <header className="view-head">
        <div>
          <p className="kicker">
            Agent in <Link href={pathTo(agency.id)}>{agency.name}</Link>
          </p>
          <h1>{name}</h1>
        </div>
        {mayDelete && agent && (
          <Button onClick={() => setDeleting(true)}>
            <Icon name="trash" /> Delete
          </Button>
        )}
      </header>
      {error && (
        <Notice tone="bad" title="This agent could not be loaded." onRetry={() => void around.reload()}>
          {error.message}
        </Notice>
      )}
      {!agent && !error && <p className="faint">Loading…</p>}
      {agent && (
        <>
          <Particulars
            of={[
              ["Blueprint", agent.blueprint],
              ["Driver", agent.driver],
              ["Model", <Model own={agent.model} inherited={blueprint?.model} />],
              ["Owner", agent.owner],
              ["Created", <When at={agent.createdAt} />],
            ]}
          />
          <section aria-labelledby="system">
            <div className="section-head">
              <h2 id="system">System prompt</h2>
            </div>
            {agent.system ? (
              <pre className="text">{agent.system}</pre>
            ) : (
              <p className="faint">None of its own: the agent follows its blueprint’s instructions.</p>
            )}
          </section>
        </>
      )}
      {deleting && agent && <DeleteAgent agent={agent} onClose={() => setDeleting(false)} />}
    </article>
  );
}

function Model({ own, inherited }: { own: string | undefined; inherited: string | undefined }) {
  if (own) return <span className="mono">{own}</span>;
  if (!inherited) return <span className="faint">the host’s default</span>;
  return (
    <>
      <span className="mono">{inherited}</span> <span className="faint">from the blueprint</span>
    </>
  );
}

import type { Agent, ListedBlueprint } from "@thinkery/sdk";
import { useState } from "react";
import { Link } from "../frame/link.tsx";
import { usagePath } from "../frame/place.ts";
import { cost, tokens } from "../parts/amount.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Particulars } from "../parts/particulars.tsx";
import { Standings } from "../parts/standing.tsx";
import { When } from "../parts/when.tsx";
import { DeleteAgent } from "../views/delete-agent.tsx";
import { AppLink } from "./app-link.tsx";
import { type UsageSoFar, usageInFull } from "./usage.ts";

interface AboutProps {
  agent: Agent;
  blueprint: ListedBlueprint | undefined;
  mayDelete: boolean;
  usage: UsageSoFar | undefined;
}

/** What the agent is, folded away: a conversation needs the room. */
export function About({ agent, blueprint, mayDelete, usage }: AboutProps) {
  const [deleting, setDeleting] = useState(false);
  const [open, setOpen] = useState(false);
  return (
    <details className="about" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>About</summary>
      <div className="about-body">
        <Particulars
          of={[
            ["Name", agent.name],
            ["Blueprint", agent.blueprint],
            ["Driver", agent.driver],
            ["Model", <Model own={agent.model} inherited={blueprint?.model} />],
            ["Used so far", <Used usage={usage} agency={agent.agency} />],
            ["App", open && <AppLink agent={agent} />],
            ["Owner", agent.owner],
            ["Created", <When at={agent.createdAt} />],
          ]}
        />
        {usage && usage.budget.length > 0 && (
          <div>
            <p className="call-part">Budget</p>
            <Standings standings={usage.budget} />
          </div>
        )}
        <div>
          <p className="call-part">System prompt</p>
          {agent.system ? (
            <pre className="text" tabIndex={0}>
              {agent.system}
            </pre>
          ) : (
            <p className="faint">None of its own: the agent follows its blueprint’s instructions.</p>
          )}
        </div>
        {mayDelete && (
          <div>
            <Button onClick={() => setDeleting(true)}>
              <Icon name="trash" /> Delete
            </Button>
          </div>
        )}
      </div>
      {deleting && <DeleteAgent agent={agent} onClose={() => setDeleting(false)} />}
    </details>
  );
}

function Used({ usage, agency }: { usage: UsageSoFar | undefined; agency: string }) {
  if (!usage) return "…";
  const { byModel } = usage;
  return (
    <>
      {usageInFull(usage)}
      {byModel.length > 1 && (
        <ul className="used-models">
          {byModel.map(({ model, inputTokens, outputTokens, costUsd }) => (
            <li key={model}>
              <span className="mono">{model}</span>{" "}
              <span className="faint">
                {tokens(inputTokens + outputTokens)} tokens, {cost(costUsd)}
              </span>
            </li>
          ))}
        </ul>
      )}{" "}
      · <Link href={usagePath(agency)}>All of {agency}</Link>
    </>
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

import type { Agent, AgentStatus, ListedBlueprint } from "@thinkery/sdk";
import { useState } from "react";
import { runsUserCode } from "../agent-code/runs-user-code.ts";
import { getParentPath } from "../api/agent-path.ts";
import { useHasScope } from "../api/login.ts";
import { Link } from "../frame/link.tsx";
import { buildUsagePath } from "../frame/navigation.ts";
import { formatCost, formatTokens } from "../parts/amount.ts";
import { BudgetStatusList } from "../parts/budget-status.tsx";
import { Button } from "../parts/button.tsx";
import { DateTime } from "../parts/date-time.tsx";
import { DescriptionList } from "../parts/description-list.tsx";
import { Icon } from "../parts/icon.tsx";
import { DeleteAgent } from "../views/delete-agent.tsx";
import { AppLink } from "./app-link.tsx";
import { LifecycleButton } from "./lifecycle-button.tsx";
import { type ConversationUsage, formatUsageDetails } from "./usage.ts";

interface AboutProps {
  agent: Agent;
  blueprint: ListedBlueprint | undefined;
  status: AgentStatus["status"];
  canManage: boolean;
  usage: ConversationUsage | undefined;
}

/** Details of the agent, collapsed to leave room for the conversation. */
export function About({ agent, blueprint, status, canManage, usage }: AboutProps) {
  const canDelete = useHasScope("admin", agent.agency);
  const isUserCode = runsUserCode({ agent, blueprint });
  const [deleting, setDeleting] = useState(false);
  const [open, setOpen] = useState(false);
  return (
    <details className="about" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>About</summary>
      <div className="about-body">
        <DescriptionList
          of={[
            ["Name", agent.name],
            ["Blueprint", agent.blueprint],
            ["Driver", agent.driver],
            [
              "Model",
              isUserCode ? (
                <span className="faint">chosen by its code</span>
              ) : (
                <Model own={agent.model} inherited={blueprint?.model} />
              ),
            ],
            ["Usage", <UsageSummary usage={usage} agency={agent.agency} />],
            // A sub-agent has none.
            ...(getParentPath(agent.name) === undefined ? [["App", open && <AppLink agent={agent} />] as const] : []),
            ["Owner", agent.owner],
            ["Created", <DateTime at={agent.createdAt} />],
          ]}
        />
        {usage && usage.budget.length > 0 && (
          <div>
            <p className="call-part">Budget</p>
            <BudgetStatusList statuses={usage.budget} />
          </div>
        )}
        <div>
          <p className="call-part">System prompt</p>
          {agent.system ? (
            <pre className="text" tabIndex={0}>
              {agent.system}
            </pre>
          ) : (
            <p className="faint">
              None. {isUserCode ? "Its code instructs models." : "The agent uses the instructions of its blueprint."}
            </p>
          )}
        </div>
        {canManage && (
          <div className="about-actions">
            <LifecycleButton agency={agent.agency} agent={agent.name} status={status} />
            {canDelete && (
              <Button onClick={() => setDeleting(true)}>
                <Icon name="trash" /> Delete
              </Button>
            )}
          </div>
        )}
      </div>
      {deleting && <DeleteAgent agent={agent} onClose={() => setDeleting(false)} />}
    </details>
  );
}

function UsageSummary({ usage, agency }: { usage: ConversationUsage | undefined; agency: string }) {
  if (!usage) return "…";
  const { byModel } = usage;
  return (
    <>
      {formatUsageDetails(usage)}
      {byModel.length > 1 && (
        <ul className="used-models">
          {byModel.map(({ model, inputTokens, outputTokens, costUsd }) => (
            <li key={model}>
              <span className="mono">{model}</span>{" "}
              <span className="faint">
                {formatTokens(inputTokens + outputTokens)} tokens, {formatCost(costUsd)}
              </span>
            </li>
          ))}
        </ul>
      )}{" "}
      · <Link href={buildUsagePath(agency)}>All usage in {agency}</Link>
    </>
  );
}

function Model({ own, inherited }: { own: string | undefined; inherited: string | undefined }) {
  if (own) return <span className="mono">{own}</span>;
  if (!inherited) return <span className="faint">host default</span>;
  return (
    <>
      <span className="mono">{inherited}</span> <span className="faint">from blueprint</span>
    </>
  );
}

import type { Agency, BudgetLevel, BudgetStatus } from "@thinkery/sdk";
import { useState } from "react";
import { useHasScope } from "../../api/login.ts";
import { clearBudget } from "../../api/usage.ts";
import { announce } from "../../frame/announce.tsx";
import { Link } from "../../frame/link.tsx";
import { buildUsagePath } from "../../frame/navigation.ts";
import { BudgetStatusList } from "../../parts/budget-status.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Empty } from "../../parts/empty.tsx";
import { SetBudget } from "./set-budget.tsx";

interface BudgetSectionProps {
  agency: Agency | undefined;
  statuses: readonly BudgetStatus[];
  onChange(): Promise<void>;
}

/** Shows the limits and their usage, and lets admins change them. */
export function BudgetSection({ agency, statuses, onChange }: BudgetSectionProps) {
  const level: BudgetLevel = agency ? "agency" : "user";
  const own = statuses.filter((budgetStatus) => budgetStatus.level === level);
  const canChange = useHasScope("admin", agency?.id);
  const [dialog, setDialog] = useState<"set" | "clear">();
  const close = () => setDialog(undefined);

  const finishChange = async (announcement: string) => {
    await onChange();
    close();
    announce(announcement);
  };
  const clear = async () => {
    await clearBudget(agency?.id);
    await finishChange("Budget removed.");
  };

  return (
    <section aria-labelledby="budget">
      <div className="section-head">
        <h2 id="budget">Budget</h2>
        {canChange && own.length > 0 && (
          <div className="actions">
            <Button onClick={() => setDialog("clear")}>Remove</Button>
            <Button onClick={() => setDialog("set")}>Edit</Button>
          </div>
        )}
      </div>
      {own.length === 0 && (
        <Empty
          title={agency ? "No budget for this agency" : "No budget"}
          action={
            canChange && (
              <Button kind="main" onClick={() => setDialog("set")}>
                Set budget
              </Button>
            )
          }
        >
          <p>
            A budget stops turns before they exceed a limit on cost, tokens, calls or time, per day or in total. From a
            terminal: <code>thinkery budget set{agency ? ` @${agency.id}` : ""} --cost 5 --per day</code>
          </p>
        </Empty>
      )}
      <BudgetStatusList statuses={statuses} own={level} />
      {own.length < statuses.length && (
        <p className="faint">
          The budget for all your agencies also applies here. <Link href={buildUsagePath()}>View it</Link>
        </p>
      )}
      {dialog === "set" && (
        <SetBudget agency={agency} statuses={own} onDone={() => finishChange("Budget saved.")} onClose={close} />
      )}
      {dialog === "clear" && (
        <Confirm title="Remove budget?" action="Remove budget" onConfirm={clear} onClose={close}>
          <p>
            {agency ? `Agents in ${agency.name}` : "Your agents"} will no longer be limited by this budget. Usage
            history is kept.
          </p>
        </Confirm>
      )}
    </section>
  );
}

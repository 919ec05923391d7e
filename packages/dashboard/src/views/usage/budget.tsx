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

/** What may be spent here, how far it is used up, and how to change it. */
export function BudgetSection({ agency, statuses, onChange }: BudgetSectionProps) {
  const level: BudgetLevel = agency ? "agency" : "user";
  const own = statuses.filter((budgetStatus) => budgetStatus.level === level);
  const mayChange = useHasScope("admin");
  const [dialog, setDialog] = useState<"set" | "clear">();
  const close = () => setDialog(undefined);

  const finishChange = async (words: string) => {
    await onChange();
    close();
    announce(words);
  };
  const clear = async () => {
    await clearBudget(agency?.id);
    await finishChange("The budget was taken away.");
  };

  return (
    <section aria-labelledby="budget">
      <div className="section-head">
        <h2 id="budget">Budget</h2>
        {mayChange && own.length > 0 && (
          <div className="actions">
            <Button onClick={() => setDialog("clear")}>Clear</Button>
            <Button onClick={() => setDialog("set")}>Change</Button>
          </div>
        )}
      </div>
      {own.length === 0 && (
        <Empty
          title={agency ? "Nothing is limited in this agency" : "Nothing is limited"}
          action={
            mayChange && (
              <Button kind="main" onClick={() => setDialog("set")}>
                Set a budget
              </Button>
            )
          }
        >
          <p>
            A budget ends turns before they spend more than you want: in dollars, tokens, calls or time, anew every day
            or for good. From a terminal:{" "}
            <code>thinkery budget set{agency ? ` @${agency.id}` : ""} --cost 5 --per day</code>
          </p>
        </Empty>
      )}
      <BudgetStatusList statuses={statuses} own={level} />
      {own.length < statuses.length && (
        <p className="faint">
          The budget over all your agencies holds here too: <Link href={buildUsagePath()}>see it there</Link>.
        </p>
      )}
      {dialog === "set" && (
        <SetBudget agency={agency} statuses={own} onDone={() => finishChange("The budget was set.")} onClose={close} />
      )}
      {dialog === "clear" && (
        <Confirm title="Take the budget away?" action="Clear the budget" onConfirm={clear} onClose={close}>
          <p>
            {agency ? `The agents of ${agency.name}` : "Your agents"} may then spend without a limit of{" "}
            {agency ? "this agency" : "yours"}. What was spent stays counted.
          </p>
        </Confirm>
      )}
    </section>
  );
}

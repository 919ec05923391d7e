import type { EntryError } from "@thinkery/sdk/react";
import { useHasScope } from "../api/login.ts";
import { Link } from "../frame/link.tsx";
import { buildUsagePath } from "../frame/navigation.ts";
import { BudgetStatusBar } from "../parts/budget-status.tsx";
import { MessageText } from "../parts/message-text.tsx";

/** Why a turn failed or a message was refused, and what to do about it. */
export function TurnErrorView({ error, refused, agency }: { error: EntryError; refused: boolean; agency: string }) {
  const { message, advice, budget } = error;
  const mayRaise = useHasScope("admin");
  // A limit that could not be kept ends a turn as well, however little was spent.
  const usedUp = budget && budget.spent + budget.reserved >= budget.limit;
  return (
    <div className="entry-trouble">
      <p>
        <strong>{refused ? "This was not taken." : usedUp ? "The budget is used up." : "This turn failed."}</strong>{" "}
        <MessageText text={message} />
      </p>
      {budget && <BudgetStatusBar budgetStatus={budget} />}
      {advice && (
        <p>
          <MessageText text={advice} />
        </p>
      )}
      {(budget?.level === "agency" || budget?.level === "user") && (
        <p>
          <Link href={buildUsagePath(budget.level === "agency" ? agency : undefined)}>
            {mayRaise ? "See or raise the budget" : "See the budget"}
          </Link>
        </p>
      )}
    </div>
  );
}

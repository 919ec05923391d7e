import type { EntryError } from "@thinkery/sdk/react";
import { useHasScope } from "../api/login.ts";
import { Link } from "../frame/link.tsx";
import { buildUsagePath } from "../frame/navigation.ts";
import { BudgetStatusBar } from "../parts/budget-status.tsx";
import { MessageText } from "../parts/message-text.tsx";
import { sanitizeText } from "./call/sanitize-text.ts";

/** Why a turn failed or a message was rejected, and what to do about it. */
export function TurnErrorView({ error, refused, agency }: { error: EntryError; refused: boolean; agency: string }) {
  const { message, advice, budget } = error;
  const canRaise = useHasScope("admin", agency);
  // A limit that cannot be enforced, e.g. without a price, also ends a turn, however little was spent.
  const isExceeded = budget && budget.spent + budget.reserved >= budget.limit;
  return (
    <div className="entry-error">
      <p>
        <strong>{refused ? "Message rejected." : isExceeded ? "Budget exceeded." : "Turn failed."}</strong>{" "}
        <MessageText text={sanitizeText(message)} />
      </p>
      {budget && <BudgetStatusBar budgetStatus={budget} />}
      {advice && (
        <p>
          <MessageText text={sanitizeText(advice)} />
        </p>
      )}
      {(budget?.level === "agency" || budget?.level === "user") && (
        <p>
          <Link href={buildUsagePath(budget.level === "agency" ? agency : undefined)}>
            {canRaise ? "View or raise budget" : "View budget"}
          </Link>
        </p>
      )}
    </div>
  );
}

import type { Trouble } from "@thinkery/sdk/react";
import { useMay } from "../api/login.ts";
import { Link } from "../frame/link.tsx";
import { usagePath } from "../frame/place.ts";
import { Said } from "../parts/said.tsx";
import { StandingBar } from "../parts/standing.tsx";

/** Why a turn failed or a message was refused, and what to do about it. */
export function TroubleView({ trouble, refused, agency }: { trouble: Trouble; refused: boolean; agency: string }) {
  const { message, advice, budget } = trouble;
  const mayRaise = useMay("admin");
  // A limit that could not be kept ends a turn as well, however little was spent.
  const usedUp = budget && budget.spent + budget.reserved >= budget.limit;
  return (
    <div className="entry-trouble">
      <p>
        <strong>{refused ? "This was not taken." : usedUp ? "The budget is used up." : "This turn failed."}</strong> <Said text={message} />
      </p>
      {budget && <StandingBar standing={budget} />}
      {advice && (
        <p>
          <Said text={advice} />
        </p>
      )}
      {(budget?.level === "agency" || budget?.level === "user") && (
        <p>
          <Link href={usagePath(budget.level === "agency" ? agency : undefined)}>{mayRaise ? "See or raise the budget" : "See the budget"}</Link>
        </p>
      )}
    </div>
  );
}

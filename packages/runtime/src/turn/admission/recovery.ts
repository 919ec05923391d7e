import type { Failure, NewEvent } from "@thinkery/sdk";
import type { Boot, TurnLimits } from "@thinkery/sdk/internal";
import type { TurnRow } from "../../store/turns.ts";

/**
 * Decides whether to resume a turn that was running when its object lost its memory. It fails after too many attempts
 * without progress, or if the host keeps crashing during it: a turn costs money, so it must end.
 */
export function recover(turn: TurnRow, boot: Boot, limits: TurnLimits): { events: NewEvent[]; failure?: Failure } {
  const attempt = turn.attempt + 1;
  // An object that was merely evicted and woken again is still in the same boot.
  const hasCrashed = turn.boot !== boot.id && boot.after === "crash";
  const crashes = turn.crashCount + (hasCrashed ? 1 : 0);
  const events: NewEvent[] = [
    { type: "run.resumed", data: { runId: turn.id, reason: "recovered", attempt, crashes, boot: boot.id } },
  ];
  if (crashes >= limits.maxCrashes) {
    const message = `The host crashed ${crashes} times at the same point of this turn.`;
    return {
      events,
      failure: {
        code: "crashed",
        message,
        advice: "See the host's log for the cause. Send the message again to retry.",
      },
    };
  }
  if (attempt > limits.maxAttempts) {
    const message = `The turn was resumed ${limits.maxAttempts} times without making progress.`;
    return { events, failure: { code: "no_progress", message, advice: "Send the message again to retry." } };
  }
  return { events };
}

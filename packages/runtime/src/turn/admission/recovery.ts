import type { Failure, NewEvent } from "@thinkery/sdk";
import type { Boot, TurnLimits } from "@thinkery/sdk/internal";
import type { TurnRow } from "../../store/turns.ts";

/**
 * What becomes of a turn that was running when the memory of its object was lost. Usually it goes on; but not for
 * ever without getting anywhere, and not if the host keeps dying under it: what bills must end.
 */
export function recover(turn: TurnRow, boot: Boot, limits: TurnLimits): { events: NewEvent[]; failure?: Failure } {
  const attempt = turn.attempt + 1;
  // An object that was merely put to sleep and woken lives in the same boot.
  const hasCrashed = turn.boot !== boot.id && boot.after === "crash";
  const crashes = turn.crashCount + (hasCrashed ? 1 : 0);
  const events: NewEvent[] = [
    { type: "run.resumed", data: { runId: turn.id, reason: "recovered", attempt, crashes, boot: boot.id } },
  ];
  if (crashes >= limits.maxCrashes) {
    const message = `The host stopped ${crashes} times while this turn was at the same point.`;
    return {
      events,
      failure: {
        code: "crashed",
        message,
        advice: "The host's log says why it stopped. Send the message again to retry.",
      },
    };
  }
  if (attempt > limits.maxAttempts) {
    const message = `The turn was taken up ${limits.maxAttempts} times and got no further.`;
    return { events, failure: { code: "no_progress", message, advice: "Send the message again to retry." } };
  }
  return { events };
}

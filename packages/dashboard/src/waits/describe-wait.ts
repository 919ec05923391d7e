import type { AgentStatus, Continuation, Waits } from "@thinkery/sdk";

const time = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** `14:05`, with the date unless it is today. */
export function formatMoment(at: string, now: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  return (date.toDateString() === new Date(now).toDateString() ? time : dateAndTime).format(date);
}

/** What a call waits for, in a few words: `Waiting until 14:05`. */
export function describeWait({ kind, hook, dueAt }: Continuation, now: number): string {
  const until = dueAt === undefined ? "" : formatMoment(dueAt, now);
  switch (kind) {
    case "approval":
      return "Waiting for your approval";
    case "input":
      return "Waiting for your answer";
    case "timer":
      return until === "" ? "Waiting for a time" : `Waiting until ${until}`;
    case "webhook": {
      const name = hook === undefined ? "a webhook" : `the webhook ${hook}`;
      return `Waiting for ${name}${until === "" ? "" : `, until ${until} at the latest`}`;
    }
  }
}

/** What an agent waits for, those that a person can end first. Undefined if it is nothing of the kind. */
export function describeWaits(
  { approvals, continuations }: Waits,
  pending: AgentStatus["pendingContinuation"],
  now: number,
): string | undefined {
  if (approvals.length > 0) return "Waiting for your approval";
  const first = continuations.find(({ kind }) => kind === "input") ?? continuations[0] ?? pending;
  return first && describeWait(first, now);
}

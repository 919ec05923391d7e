import { type Health, parseAddress } from "@thinkery/sdk";

type Slot = NonNullable<Health["sandboxes"]>[number];

/** How the sandboxes are: a line for all of them, and one for each. */
export function formatSlots({ sandboxes = [], waitingRuns = 0 }: Pick<Health, "sandboxes" | "waitingRuns">): string[] {
  const ready = sandboxes.filter(({ state }) => state === "ready").length;
  const waiting = waitingRuns === 0 ? "" : `, ${waitingRuns} ${waitingRuns === 1 ? "run waits" : "runs wait"}`;
  return [`${ready} of ${sandboxes.length} ready${waiting}`, ...sandboxes.map(formatSlot)];
}

function formatSlot({ name, state, memoryBytes, agent, runs, restarts }: Slot): string {
  const use = agent === undefined ? "free" : `runs code of ${formatTarget(agent)}`;
  return [
    `${name}: ${state === "ready" ? use : state}`,
    memoryBytes === undefined ? undefined : `${Math.round(memoryBytes / 1024 / 1024)} MB`,
    runs === undefined ? undefined : formatCount(runs, "run"),
    restarts === 0 ? undefined : formatCount(restarts, "restart"),
  ]
    .filter(Boolean)
    .join(", ");
}

/** An agent's object by the name that commands take. */
function formatTarget(object: string): string {
  const address = parseAddress(object);
  return address ? `${address.path.join("/")}@${address.agency}` : object;
}

function formatCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

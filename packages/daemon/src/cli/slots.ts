import { type Health, parseAddress } from "@thinkery/sdk";

type Slot = NonNullable<Health["sandboxes"]>[number];

/** Formats the state of the sandboxes: a summary line, then a line for each. */
export function formatSlots({ sandboxes = [], waitingRuns = 0 }: Pick<Health, "sandboxes" | "waitingRuns">): string[] {
  const ready = sandboxes.filter(({ state }) => state === "ready").length;
  const waiting = waitingRuns === 0 ? "" : `, ${formatCount(waitingRuns, "run")} queued`;
  return [`${ready} of ${sandboxes.length} ready${waiting}`, ...sandboxes.map(formatSlot)];
}

function formatSlot({ name, state, memoryBytes, agent, runs, restarts }: Slot): string {
  const use = agent === undefined ? "idle" : `running code of ${formatTarget(agent)}`;
  return [
    `${name}: ${state === "ready" ? use : state}`,
    memoryBytes === undefined ? undefined : `${Math.round(memoryBytes / 1024 / 1024)} MB`,
    runs === undefined ? undefined : formatCount(runs, "run"),
    restarts === 0 ? undefined : formatCount(restarts, "restart"),
  ]
    .filter(Boolean)
    .join(", ");
}

/** Converts an object address to a CLI target. */
function formatTarget(object: string): string {
  const address = parseAddress(object);
  return address ? `${address.path.join("/")}@${address.agency}` : object;
}

function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

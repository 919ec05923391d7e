import type { JobEvent, TeamAgent } from "@thinkery/sdk";
import { clipLine, formatCost, formatOpenCall, toOneLine } from "../conversation/lines.ts";
import { formatDuration } from "../duration.ts";

const maxLines = 12;
const nameWidth = 24;
const activityWidth = 80;

interface AgentLine {
  status: TeamAgent;
  /** The calls under way, by their ids, as they are shown. */
  calls: Map<string, string>;
  /** The tool that it is using, if only its name is known. */
  tool: string | undefined;
  /** The end of what it is writing. */
  text: string;
}

/** What the agents of a run do, as one line for each. */
export class AgentLines {
  private readonly lines = new Map<string, AgentLine>();

  /** Whether nobody works, and somebody waits. */
  get isWaiting(): boolean {
    const statuses = [...this.lines.values()].map(({ status }) => status.status);
    return statuses.includes("waiting") && !statuses.includes("working");
  }

  apply(event: JobEvent): void {
    const line = this.lines.get(event.agent);
    if (event.type === "status") {
      const { status } = event;
      const isWorking = status.status === "working" || status.status === "waiting";
      this.lines.set(event.agent, {
        status,
        calls: (isWorking && line?.calls) || new Map(),
        tool: status.tool,
        text: (isWorking && line?.text) || "",
      });
    }
    if (!line) return;
    if (event.type === "tool_call") line.calls.set(event.call.id, formatOpenCall(event.call).slice(2));
    else if (event.type === "tool_result") {
      line.calls.delete(event.callId);
      line.tool = undefined;
    } else if (event.type === "chunk") line.text = (line.text + event.text).slice(-activityWidth * 4);
    else if (event.type === "turn_end") line.text = "";
  }

  /** Returns a line for each agent, none wider than `width`; those that do something come first if there are many. */
  format(now: number, width: number): string[] {
    const all = [...this.lines.values()];
    const shown = all.length > maxLines ? all.toSorted(compareActivity).slice(0, maxLines) : all;
    const names = Math.min(nameWidth, Math.max(0, ...shown.map(({ status }) => status.name.length)));
    const states = Math.max(0, ...shown.map(({ status }) => formatState(status).length));
    const lines = shown.map((line) => clipLine(formatLine(line, { names, states }, now), width));
    const hidden = all.length - shown.length;
    return hidden > 0 ? [...lines, `and ${hidden} more agents`] : lines;
  }
}

const order: readonly TeamAgent["status"][] = ["waiting", "working", "failed", "stopped", "idle"];

const compareActivity = (one: AgentLine, other: AgentLine) =>
  order.indexOf(one.status.status) - order.indexOf(other.status.status);

function formatLine(
  { status, calls, tool, text }: AgentLine,
  widths: { names: number; states: number },
  now: number,
): string {
  const { name, tokens, costUsd, since } = status;
  const isBusy = status.status === "working" || status.status === "waiting";
  const elapsed = isBusy && since !== undefined ? formatDuration((now - Date.parse(since)) / 1000) : "";
  const call = [...calls.values()].at(-1) ?? tool;
  const lastLine = text.trimEnd().split("\n").at(-1);
  const activity = !isBusy ? (status.error ?? "") : (call ?? (lastLine || status.note || ""));
  const columns = [
    toOneLine(name, widths.names).padEnd(widths.names),
    formatState(status).padEnd(widths.states),
    elapsed.padStart(timeWidth),
    `${formatCount(tokens)} tokens`.padStart(tokensWidth),
    costUsd ? formatCost(costUsd) : "",
    toOneLine(activity, activityWidth),
  ];
  return columns
    .filter((cell) => cell !== "")
    .join("  ")
    .trimEnd();
}

const timeWidth = 6;
const tokensWidth = 12;

function formatState({ status, waitingFor }: TeamAgent): string {
  if (status !== "waiting") return status;
  return waitingFor === "approval" ? "needs approval" : waitingFor === "question" ? "needs an answer" : "waiting";
}

/** Formats a number of tokens in a few characters: 950, 12.3k, 4.5M. */
export function formatCount(count: number): string {
  if (count < 1000) return String(count);
  const [value, unit] = count < 999_950 ? [count / 1000, "k"] : [count / 1_000_000, "M"];
  return `${value < 99.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

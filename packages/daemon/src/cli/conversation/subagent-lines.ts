import {
  applySubagentEvent,
  applySubagentFrame,
  formatSubagentStatus,
  type Subagent,
  type SubagentEvent,
  type SubagentFrame,
  type SubagentStreams,
} from "@thinkery/sdk";
import { clipLine, toOneLine } from "./lines.ts";

const maxLiveLines = 10;
const titleWidth = 40;
const activityWidth = 80;

/** What the sub-agents of a turn do, as lines: one for each that works, and one when it starts and ends. */
export class SubagentLines {
  private subagents: readonly Subagent[] = [];
  private streams: SubagentStreams = {};

  /** All sub-agents of the turn, oldest first. */
  get list(): Subagent[] {
    return this.subagents.toReversed();
  }

  /** Applies an event and returns the line that it is worth. */
  apply(event: SubagentEvent): string | undefined {
    const { taskId } = event.data;
    const before = this.find(taskId);
    // Those that other turns delegated to are not shown.
    if ((event.type === "subagent.spawned") === (before !== undefined)) return undefined;
    this.subagents = applySubagentEvent(this.subagents, event);
    const subagent = this.find(taskId);
    if (!subagent) return undefined;
    switch (event.type) {
      case "subagent.spawned":
      case "subagent.started":
        return formatStart(subagent);
      case "subagent.completed":
        return before?.completedAt === undefined ? formatEnd(subagent) : undefined;
      default:
        return undefined;
    }
  }

  applyFrame(frame: SubagentFrame): void {
    this.streams = applySubagentFrame(this.streams, frame);
  }

  /** Returns a line for each that works, none wider than `width`. */
  format(now: number, width: number): string[] {
    const working = this.list.filter(({ completedAt }) => completedAt === undefined);
    const lines = working.slice(0, maxLiveLines).map((subagent) => clipLine(this.formatWork(subagent, now), width));
    const hidden = working.length - lines.length;
    return hidden > 0 ? [...lines, `↳ and ${hidden} more`] : lines;
  }

  private formatWork(subagent: Subagent, now: number): string {
    const { title, startedAt, step = 1 } = subagent;
    if (subagent.waitingFor) return joinColumns([formatTitle(title), formatSubagentStatus(subagent)]);
    if (startedAt === undefined) return joinColumns([formatTitle(title), "waiting"]);
    const columns = [formatTitle(title), `step ${step}`, formatSeconds(now - startedAt), this.describe(subagent)];
    return joinColumns(columns);
  }

  /** Returns the tool that it calls, or what it writes, if that is known, or else what it did last. */
  private describe({ taskId, activity = "" }: Subagent): string {
    const { calls, text, isMessageOver } = this.streams[taskId] ?? { calls: [], text: "", isMessageOver: true };
    const call = calls.at(-1);
    if (call) return toOneLine(`${call.toolName} ${pickText(call.input)}`, activityWidth);
    const lastLine = isMessageOver ? undefined : text.trimEnd().split("\n").at(-1);
    return toOneLine(lastLine || formatActivity(activity), activityWidth);
  }

  private find(taskId: string): Subagent | undefined {
    return this.subagents.find((subagent) => subagent.taskId === taskId);
  }
}

const formatTitle = (title: string) => `↳ ${toOneLine(title, titleWidth)}`;

const formatSeconds = (ms: number) => `${Math.max(0, Math.round(ms / 1000))} s`;

function formatStart({ title, startedAt }: Subagent): string {
  return joinColumns([formatTitle(title), startedAt === undefined ? "waiting" : "started"]);
}

function formatEnd({ title, status, steps = 0, createdAt, startedAt, completedAt, error }: Subagent): string {
  return joinColumns([
    formatTitle(title),
    status,
    `${steps} step${steps === 1 ? "" : "s"}`,
    formatSeconds((completedAt ?? createdAt) - (startedAt ?? createdAt)),
    status === "complete" ? "" : toOneLine(error ?? "", activityWidth),
  ]);
}

const joinColumns = (columns: string[]) => columns.filter((column) => column !== "").join("  ");

/** An activity is the name of a tool and its input as JSON, which may be cut off. */
function formatActivity(activity: string): string {
  const [, name = "", input = ""] = /^(\S*) ?(.*)$/s.exec(activity) ?? [];
  try {
    return `${name} ${pickText(JSON.parse(input))}`;
  } catch {
    return activity;
  }
}

/** Returns what stands for the whole input: the command, the path or the first text. */
function pickText(input: unknown): string {
  if (typeof input !== "object" || input === null) return input === undefined ? "" : String(input);
  const texts = Object.values(input).filter((value) => typeof value === "string");
  return texts[0] ?? (Object.keys(input).length === 0 ? "" : JSON.stringify(input));
}

import { defineTool, type Schedule, type Schedules, ToolError } from "@thinkery/sdk";
import { z } from "zod";

const maxInputChars = 200;

export const manageSchedules = defineTool(
  {
    name: "manageSchedules",
    description: "List your schedules, or pause, resume, delete or run one now (after this turn).",
    inputSchema: z.strictObject({
      action: z.enum(["list", "pause", "resume", "run", "delete"]),
      id: z.string().min(1).max(100).optional(),
      after: z.string().min(1).max(100).optional(),
    }),
    action: "manage",
    idempotent: true,
    onDemand: "schedules",
  },
  async ({ action, id, after }, { schedules }) => {
    if (action === "list") {
      const { schedules: listed, next } = await schedules.list(after === undefined ? {} : { after });
      return { schedules: listed.map(describe), ...(next === undefined ? {} : { next }) };
    }
    if (id === undefined) throw new ToolError("invalid_input", `Name the schedule to ${action} by its “id”.`);
    return change(action, id, schedules);
  },
);

async function change(action: "pause" | "resume" | "run" | "delete", id: string, schedules: Schedules) {
  switch (action) {
    case "pause":
    case "resume":
      return describe(await schedules.setPaused(id, action === "pause"));
    case "run": {
      const { status, runId, error } = await schedules.run(id);
      return { id, status: status === "ran" ? "queued" : status, runId, error };
    }
    case "delete":
      schedules.delete(id);
      return { id, deleted: true };
  }
}

function describe({ id, name, when, timeZone, input, paused, nextAt, history }: Schedule) {
  const last = history[0];
  return {
    id,
    name,
    when,
    timeZone,
    input: input.length > maxInputChars ? `${input.slice(0, maxInputChars)}…` : input,
    ...(paused ? { paused } : {}),
    nextAt,
    ...(last ? { lastRun: { dueAt: last.dueAt, status: last.status, outcome: last.outcome } } : {}),
  };
}

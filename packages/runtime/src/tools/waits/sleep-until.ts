import { defer, defineTool, ToolError } from "@thinkery/sdk";
import { z } from "zod";

const maxSeconds = 366 * 24 * 3600;

/** Pauses the turn until a time. */
export const sleepUntil = defineTool(
  {
    name: "sleepUntil",
    description: "Pause until a time: seconds from now, or an ISO date with time and zone.",
    inputSchema: z.strictObject({ when: z.union([z.number(), z.string().min(1).max(64)]) }),
    action: "sleep",
    idempotent: true,
    modelOnly: true,
    async resume() {
      return `It is now ${new Date().toISOString()}.`;
    },
  },
  ({ when }) => defer({ kind: "timer", until: parseTime(when, Date.now()) }),
);

function parseTime(when: number | string, now: number): Date {
  const isNumeric = typeof when === "number" || /^\d+(\.\d+)?$/.test(when);
  const time = isNumeric ? now + Number(when) * 1000 : Date.parse(String(when));
  if (Number.isNaN(time)) {
    throw new ToolError("invalid_input", `“${when}” is neither a number of seconds nor an ISO date.`);
  }
  if (time <= now) throw new ToolError("invalid_input", `${new Date(time).toISOString()} is not in the future.`);
  if (time > now + maxSeconds * 1000) throw new ToolError("invalid_input", "At most a year can be waited for.");
  return new Date(time);
}

import { z } from "zod";
import { budgetStatusSchema } from "../budget.ts";
import { failureCodes } from "../turn.ts";

const pauseReasons = ["hitl", "error", "exhausted", "subagent", "deferred", "input", "webhook", "timer"] as const;

export type PauseReason = (typeof pauseReasons)[number];

/** Events of a turn, from its start to its outcome. */
export const turnEvents = () => ({
  "run.started": z.object({ runId: z.string(), model: z.string(), boot: z.string() }),
  "run.tick": z.object({ runId: z.string(), step: z.number() }),
  "run.paused": z.object({ runId: z.string(), reason: z.enum(pauseReasons) }),
  "run.resumed": z.object({
    runId: z.string(),
    reason: z.enum(["recovered", "resolved"]),
    attempt: z.number(),
    crashes: z.number(),
    boot: z.string(),
  }),
  "run.canceled": z.object({ runId: z.string(), reason: z.string().optional() }),
  "agent.started": z.object({ runId: z.string() }),
  "agent.completed": z.object({ runId: z.string(), result: z.string() }),
  "agent.error": z.object({
    runId: z.string(),
    error: z.string(),
    code: z.enum(failureCodes),
    advice: z.string().optional(),
    budget: budgetStatusSchema.optional(),
  }),
  "checkpoint.saved": z.object({ runId: z.string(), step: z.number(), stateHash: z.string(), size: z.number() }),
});

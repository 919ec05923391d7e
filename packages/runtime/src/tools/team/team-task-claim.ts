import { defineTool } from "@thinkery/sdk";
import { z } from "zod";
import { describeTeamTask } from "./describe-team-task.ts";

export const teamTaskClaim = defineTool(
  {
    name: "team_task_claim",
    description: "Claim a shared task before you work on it. Fails if another member has it.",
    inputSchema: z.object({ id: z.string().min(1).max(200) }),
    action: "claim",
    idempotent: true,
    onDemand: "team",
  },
  async ({ id }, { team }) => describeTeamTask(await team.claimTask(id)),
);

import type { Tool } from "@thinkery/sdk";
import { teamTaskClaim } from "./team-task-claim.ts";
import { teamTaskComplete } from "./team-task-complete.ts";
import { teamTaskCreate } from "./team-task-create.ts";
import { teamTaskList } from "./team-task-list.ts";

/** The tools of an agency's shared tasks. */
export const teamTaskTools: readonly Tool[] = [teamTaskList, teamTaskCreate, teamTaskClaim, teamTaskComplete];

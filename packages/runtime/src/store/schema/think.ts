import type { Schema } from "../migrate.ts";
import { agentTables } from "./agent-tables.ts";
import { agentMigrations } from "./agent.ts";
import { childSpendingMigrations, childSpendingTables } from "./child-spending.ts";
import { fileMigrations } from "./files.ts";
import { scheduleMigrations } from "./schedules.ts";
import { subagentMigrations, subagentTables } from "./subagents.ts";
import { taskMigrations } from "./tasks.ts";
import { waitMigrations, waitTables } from "./waits.ts";
import { webhookMigrations } from "./webhooks.ts";

/** Everything that an agent's object stores. Features with their own tables add their migrations here. */
export const thinkSchema: Schema = {
  agent: agentMigrations,
  files: fileMigrations,
  tasks: taskMigrations,
  subagents: subagentMigrations,
  childSpending: childSpendingMigrations,
  waits: waitMigrations,
  schedules: scheduleMigrations,
  webhooks: webhookMigrations,
};

/** What new agents start with, in place of replaying the steps. */
export const thinkTables = {
  agent: agentTables,
  subagents: subagentTables,
  childSpending: childSpendingTables,
  waits: waitTables,
};

/** The number of steps per feature when a single number still counted them all. */
export const formerThinkSteps = {
  agent: 4,
  files: 2,
  tasks: 0,
  subagents: 0,
  childSpending: 0,
  waits: 0,
  schedules: 0,
  webhooks: 0,
};

import { migrate, type Schema } from "../migrate.ts";
import { agentTables } from "./agent-tables.ts";
import { agentMigrations } from "./agent.ts";
import { childSpendingMigrations, childSpendingTables } from "./child-spending.ts";
import { codeMigrations } from "./code.ts";
import { fileMigrations } from "./files.ts";
import { scheduleMigrations } from "./schedules.ts";
import { subagentMigrations, subagentTables } from "./subagents.ts";
import { taskMigrations } from "./tasks.ts";
import { teamTurnMigrations } from "./team-turns.ts";
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
  code: codeMigrations,
  team: teamTurnMigrations,
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
  code: 0,
  team: 0,
};

/** Features whose tables are created when they are first used, because most agents never do. */
const optionalFeatures = ["webhooks", "code", "team"];
/** What a sub-agent has of its root agent instead. */
const rootFeatures = ["files", "schedules"];

/** Opens the tables of an agent. Returns a function that creates those of an optional feature. */
export function openThinkTables(storage: DurableObjectStorage, isRoot: boolean): (feature: string) => void {
  const optional = isRoot ? optionalFeatures : [...optionalFeatures, ...rootFeatures];
  const options = { formerSteps: formerThinkSteps, tables: thinkTables };
  migrate(storage, thinkSchema, { ...options, optional });
  return (feature) =>
    migrate(storage, thinkSchema, { ...options, optional: optional.filter((other) => other !== feature) });
}

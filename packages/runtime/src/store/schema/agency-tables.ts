import { migrate, type Schema } from "../migrate.ts";
import { agencySettingsMigrations } from "./agency-settings.ts";
import { agencyToolMigrations } from "./agency-tools.ts";
import { agencyMigrations } from "./agency.ts";
import { feedbackMigrations } from "./feedback.ts";
import { fileMigrations } from "./files.ts";
import { memberMigrations } from "./members.ts";
import { resourceMigrations } from "./resources.ts";
import { scheduleMigrations } from "./schedules.ts";
import { teamTaskMigrations } from "./team-tasks.ts";
import { teamMigrations } from "./team.ts";
import { workflowMigrations } from "./workflow.ts";

/** Everything that an agency's object stores. Features with their own tables add their migrations here. */
export const agencySchema: Schema = {
  agency: agencyMigrations,
  schedules: scheduleMigrations,
  settings: agencySettingsMigrations,
  members: memberMigrations,
  team: teamMigrations,
  workflow: workflowMigrations,
  files: fileMigrations,
  resources: resourceMigrations,
  teamTasks: teamTaskMigrations,
  feedback: feedbackMigrations,
  tools: agencyToolMigrations,
};

/** Features whose tables are created when they are first used, because most agencies never do. */
const optionalFeatures = ["files"];

/** The tables of an agency's optional features. */
export interface OptionalTables {
  has(feature: string): boolean;
  create(feature: string): void;
}

/** Opens the tables of an agency. */
export function openAgencyTables(storage: DurableObjectStorage): OptionalTables {
  migrate(storage, agencySchema, { optional: optionalFeatures });
  return {
    has: (feature) =>
      storage.sql.exec("SELECT 1 FROM thinkery_features WHERE feature = ?", feature).toArray().length > 0,
    create: (feature) =>
      migrate(storage, agencySchema, { optional: optionalFeatures.filter((other) => other !== feature) }),
  };
}

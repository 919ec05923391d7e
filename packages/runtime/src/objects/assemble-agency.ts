import { defaultAgencySettings } from "@thinkery/sdk";
import { AgencyDocuments } from "./agency-documents.ts";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";
import { AgencyFeedback } from "./agency-feedback.ts";
import { AgencyResources } from "./agency-resources.ts";
import { AgencySchedules } from "./agency-schedules.ts";
import { AgencyTasks } from "./agency-tasks.ts";
import { AgencyTeam } from "./agency-team.ts";
import { DueTimer } from "./due-timer.ts";

interface AssemblyOptions extends Omit<AgencyContext, "updateTimer"> {
  /** Schedules a check of what is due, at a time (epoch ms). */
  scheduleDue(at: number): Promise<unknown>;
}

/** Creates the features of an agency, when its object is constructed. */
export function assembleAgency({ scheduleDue, ...options }: AssemblyOptions) {
  const context: AgencyContext = { ...options, updateTimer: (time) => timer.update(time) };
  const schedules = new AgencySchedules(context);
  const documents = new AgencyDocuments(context);
  const resources = new AgencyResources(context);
  const tasks = new AgencyTasks({ ...context, getSettings: () => defaultAgencySettings });
  const feedback = new AgencyFeedback(context);
  const team = new AgencyTeam({ ...context, resources, tasks });
  const features: AgencyFeature[] = [schedules, documents, resources, tasks, team];
  const timer: DueTimer = new DueTimer({ features: () => features, schedule: (at) => scheduleDue(at) });
  return { schedules, documents, resources, tasks, feedback, team, features, timer };
}

export type AgencyParts = ReturnType<typeof assembleAgency>;

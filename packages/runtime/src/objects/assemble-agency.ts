import { AgencyDocuments } from "./agency-documents.ts";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";
import { AgencyFeedback } from "./agency-feedback.ts";
import { AgencyMembers, createIdleAgent } from "./agency-members.ts";
import { AgencyResources } from "./agency-resources.ts";
import { AgencySchedules } from "./agency-schedules.ts";
import { AgencySettings } from "./agency-settings.ts";
import { AgencyTasks } from "./agency-tasks.ts";
import { AgencyTeam } from "./agency-team.ts";
import { DueTimer } from "./due-timer.ts";

interface AssemblyOptions extends Omit<AgencyContext, "updateTimer" | "settings"> {
  /** Schedules a check of what is due, at a time (epoch ms). */
  scheduleDue(at: number): Promise<unknown>;
  /** Tells the owner that the agency has another name. */
  announceName(name: string): Promise<void>;
}

/** Creates the features of an agency, when its object is constructed. */
export function assembleAgency({ scheduleDue, announceName, ...options }: AssemblyOptions) {
  const updateTimer = (time?: number) => timer.update(time);
  const settings: AgencySettings = new AgencySettings({
    ...options,
    updateTimer,
    announceName: async (name) => {
      await Promise.all([announceName(name), members.announceName(name)]);
    },
  });
  const context: AgencyContext = { ...options, updateTimer, settings: () => settings.settings };
  const members = new AgencyMembers({ ...context, describeAgents: (agents) => agents.map(createIdleAgent) });
  const schedules = new AgencySchedules(context);
  const documents = new AgencyDocuments(context);
  const resources = new AgencyResources(context);
  const tasks = new AgencyTasks(context);
  const feedback = new AgencyFeedback(context);
  const team = new AgencyTeam({ ...context, resources, tasks });
  const features: AgencyFeature[] = [members, schedules, documents, resources, tasks, feedback, team];
  const timer: DueTimer = new DueTimer({ features: () => features, schedule: (at) => scheduleDue(at) });
  return { settings, members, schedules, documents, resources, tasks, feedback, team, features, timer };
}

export type AgencyParts = ReturnType<typeof assembleAgency>;

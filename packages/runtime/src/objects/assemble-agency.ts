import { AgencyDocuments } from "./agency-documents.ts";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";
import { AgencyFeedback } from "./agency-feedback.ts";
import { AgencyResources } from "./agency-resources.ts";
import { AgencySchedules } from "./agency-schedules.ts";
import { AgencyStorageApi } from "./agency-storage-api.ts";
import { AgencyTasks } from "./agency-tasks.ts";
import { AgencyTeam } from "./agency-team.ts";
import { DiskQuota } from "./disk-quota.ts";
import { DueTimer } from "./due-timer.ts";
import { openOwnerBlobs } from "./owner-blobs.ts";

interface AssemblyOptions extends Omit<AgencyContext, "updateTimer" | "disk" | "blobs"> {
  /** Schedules a check of what is due, at a time (epoch ms). */
  scheduleDue(at: number): Promise<unknown>;
}

/** Creates the features of an agency, when its object is constructed. */
export function assembleAgency({ scheduleDue, ...options }: AssemblyOptions) {
  const { env, storage, key, record } = options;
  const disk = new DiskQuota({ env, storage, key, ownsBlobs: true, getOwner: () => record.owner });
  const blobs = openOwnerBlobs(env, key, disk);
  const context: AgencyContext = { ...options, disk, blobs, updateTimer: (time) => timer.update(time) };
  const schedules = new AgencySchedules(context);
  const documents = new AgencyDocuments(context);
  const resources = new AgencyResources(context);
  const tasks = new AgencyTasks(context);
  const feedback = new AgencyFeedback(context);
  const team = new AgencyTeam({ ...context, resources, tasks });
  const features: AgencyFeature[] = [schedules, documents, tasks, feedback, team];
  const timer: DueTimer = new DueTimer({ features: () => features, schedule: (at) => scheduleDue(at) });
  const storageApi = new AgencyStorageApi({ open: options.open, documents, resources });
  return { schedules, documents, resources, tasks, feedback, team, features, timer, storage: storageApi };
}

export type AgencyParts = ReturnType<typeof assembleAgency>;

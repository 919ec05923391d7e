import { defaultBlueprint, type NewAgent, type TeamFrame } from "@thinkery/sdk";
import type { TeamInfo } from "../agency/team/team-prompt.ts";
import type { System } from "../system/system.ts";
import type { ToolProvider } from "../tools/provided-tools.ts";
import { AgencyDocuments } from "./agency-documents.ts";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";
import { AgencyFeedback } from "./agency-feedback.ts";
import { AgencyMembers } from "./agency-members.ts";
import { AgencyResources } from "./agency-resources.ts";
import { AgencySchedules } from "./agency-schedules.ts";
import { AgencySettings } from "./agency-settings.ts";
import { AgencyStorageApi } from "./agency-storage-api.ts";
import { AgencyTasks } from "./agency-tasks.ts";
import { AgencyTeam } from "./agency-team.ts";
import { AgencyTools } from "./agency-tools.ts";
import { AgencyWorkflow } from "./agency-workflow.ts";
import { DiskQuota } from "./disk-quota.ts";
import { DueTimer } from "./due-timer.ts";
import { openOwnerBlobs } from "./owner-blobs.ts";

/** Agents that are named to each other. */
const maxListedAgents = 100;

interface AssemblyOptions extends Omit<AgencyContext, "updateTimer" | "settings" | "disk" | "blobs"> {
  /** Schedules a check of what is due, at a time (epoch ms). */
  scheduleDue(at: number): Promise<unknown>;
  /** Tells the owner that the agency has another name. */
  announceName(name: string): Promise<void>;
  createAgent(agent: NewAgent): Promise<unknown>;
  /** Finishes what a crash left of agents that were being created or deleted. */
  settleAgents(): Promise<unknown>;
  findBlueprint(name: string): { description: string } | undefined;
  system: System;
  /** Returns the tools that agents of the agency provide. */
  listProviders(): readonly ToolProvider[];
}

/** Creates the features of an agency, when its object is constructed. */
export function assembleAgency({
  scheduleDue,
  announceName,
  createAgent,
  settleAgents,
  findBlueprint,
  system,
  listProviders,
  ...options
}: AssemblyOptions) {
  const { env, storage, key, record, agents } = options;
  const disk = new DiskQuota({ env, storage, key, ownsBlobs: true, getOwner: () => record.owner });
  const base = {
    ...options,
    disk,
    blobs: openOwnerBlobs(env, key, disk),
    updateTimer: (time?: number) => timer.update(time),
    publish(createFrame: Parameters<AgencyContext["publish"]>[0]) {
      options.publish(createFrame);
      // What is published was stored. The user's limit counts it; a report that is lost is made up for by the next one.
      options.waitUntil(disk.reportChange().catch(() => undefined));
    },
  };
  const settings: AgencySettings = new AgencySettings({
    ...base,
    announceName: async (name) => {
      await Promise.all([announceName(name), members.announceName(name)]);
    },
  });
  const context: AgencyContext = { ...base, settings: () => settings.settings };
  const schedules = new AgencySchedules(context);
  const documents = new AgencyDocuments(context);
  const resources = new AgencyResources(context);
  const getSettings = () => ({ ...settings.settings, ...workflow.limits });
  const tasks = new AgencyTasks({
    ...context,
    getSettings,
    isBusy: (agent) => team.isBusy(agent),
    onAssigned: (agent, { id, title }, by) =>
      team.notify(agent, `${by.name} has given you the shared task ${id}: ${title}`),
  });
  const feedback = new AgencyFeedback(context);
  const tools = new AgencyTools({ ...context, system, listProviders });
  const team: AgencyTeam = new AgencyTeam({
    ...context,
    resources,
    tasks,
    getSettings,
    hasPerson: (name) => members.getScopes(name) !== undefined || name === record.owner,
    getRole: (agent) => workflow.definition?.agents[agent]?.role ?? findRole(agent),
    isHeld: () => workflow.isHeld,
    listener: () => workflow,
  });
  const members: AgencyMembers = new AgencyMembers({
    ...context,
    describeAgents: (listed) => team.describeAgents(listed.map(({ name }) => name)),
  });
  const workflow: AgencyWorkflow = new AgencyWorkflow({
    ...context,
    team,
    documents: documents.api,
    createAgent,
    settleAgents,
    reportRun: (run) => env.User.getByName(record.owner).workflows.noteRun(run),
  });
  const features: AgencyFeature[] = [members, schedules, documents, tasks, tools, team, workflow];
  const timer: DueTimer = new DueTimer({ features: () => features, schedule: (at) => scheduleDue(at) });

  /** Returns what an agent is for, in the words of its blueprint. */
  function findRole(agent: string): string | undefined {
    const blueprint = agents.findBlueprint(agent);
    if (blueprint === undefined || blueprint === defaultBlueprint.name) return undefined;
    return findBlueprint(blueprint)?.description;
  }

  /** Returns what an agent is told about its team, if it is part of one. */
  function describeTeam(agent: string): TeamInfo | undefined {
    if (!workflow.definition && !team.includes(agent)) return undefined;
    const names = agents.listReadyNames().filter((name) => name.toLowerCase() !== agent.toLowerCase());
    return {
      agency: record.get().id,
      ...(workflow.name === undefined ? {} : { workflow: workflow.name }),
      others: names.slice(0, maxListedAgents).map((name) => {
        const role = team.getRole(name);
        return role ? { name, role } : { name };
      }),
    };
  }

  /** Returns what is sent first to somebody who watches the agency. */
  async function createSync(): Promise<TeamFrame> {
    const agents = await team.describeAgents();
    // Read last: what changes while agents are asked is not sent to a client that has no sync yet.
    const run = workflow.find();
    return { type: "sync", agents, ...(run ? { run } : {}) };
  }

  return {
    describeTeam,
    createSync,
    settings,
    members,
    schedules,
    documents,
    resources,
    tasks,
    feedback,
    tools,
    team,
    workflow,
    features,
    timer,
    storage: new AgencyStorageApi({ open: options.open, documents, resources }),
  };
}

export type AgencyParts = ReturnType<typeof assembleAgency>;

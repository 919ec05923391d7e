import { defaultAgencySettings, defaultBlueprint, type NewAgent } from "@thinkery/sdk";
import type { TeamInfo } from "../agency/team/team-prompt.ts";
import type { System } from "../system/system.ts";
import type { ToolProvider } from "../tools/provided-tools.ts";
import { AgencyDocuments } from "./agency-documents.ts";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";
import { AgencyFeedback } from "./agency-feedback.ts";
import { AgencyResources } from "./agency-resources.ts";
import { AgencySchedules } from "./agency-schedules.ts";
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

interface AssemblyOptions extends Omit<AgencyContext, "updateTimer" | "disk" | "blobs"> {
  /** Schedules a check of what is due, at a time (epoch ms). */
  scheduleDue(at: number): Promise<unknown>;
  createAgent(agent: NewAgent): Promise<unknown>;
  findBlueprint(name: string): { description: string } | undefined;
  system: System;
  /** Returns the tools that agents of the agency provide. */
  listProviders(): readonly ToolProvider[];
}

/** Creates the features of an agency, when its object is constructed. */
export function assembleAgency({
  scheduleDue,
  createAgent,
  findBlueprint,
  system,
  listProviders,
  ...options
}: AssemblyOptions) {
  const { env, storage, key, record } = options;
  const disk = new DiskQuota({ env, storage, key, ownsBlobs: true, getOwner: () => record.owner });
  const blobs = openOwnerBlobs(env, key, disk);
  const context: AgencyContext = { ...options, disk, blobs, updateTimer: (time) => timer.update(time) };
  const schedules = new AgencySchedules(context);
  const documents = new AgencyDocuments(context);
  const resources = new AgencyResources(context);
  const getRun = () => workflow.definition;
  const getSettings = () => {
    const { max_turns_without_progress: maxTurns } = getRun()?.limits ?? {};
    return { ...defaultAgencySettings, ...(maxTurns === undefined ? {} : { maxTurnsWithoutProgress: maxTurns }) };
  };
  const tasks = new AgencyTasks({ ...context, getSettings });
  const feedback = new AgencyFeedback(context);
  const tools = new AgencyTools({ ...context, system, listProviders });
  const team: AgencyTeam = new AgencyTeam({
    ...context,
    resources,
    tasks,
    getSettings,
    hasPerson: (name) => name === context.record.owner,
    getRole: (agent) => getRun()?.agents[agent]?.role ?? findRole(agent),
    isHeld: () => workflow.isStopped,
    listener: () => workflow,
  });
  const workflow: AgencyWorkflow = new AgencyWorkflow({
    ...context,
    team,
    documents: documents.api,
    createAgent,
    reportRun: (run) => context.env.User.getByName(context.record.owner).workflows.noteRun(run),
  });
  const features: AgencyFeature[] = [schedules, documents, tasks, tools, team, workflow];
  const timer: DueTimer = new DueTimer({ features: () => features, schedule: (at) => scheduleDue(at) });
  /** What an agent is for, in the words of its blueprint. */
  function findRole(agent: string): string | undefined {
    const blueprint = context.agents.find(agent)?.blueprint;
    return blueprint === undefined || blueprint === defaultBlueprint.name
      ? undefined
      : findBlueprint(blueprint)?.description;
  }

  /** Returns what an agent is told about its team, if it is part of one. */
  function describeTeam(agent: string): TeamInfo | undefined {
    if (!workflow.definition && !team.includes(agent)) return undefined;
    const names = context.agents.listNames().filter((name) => name.toLowerCase() !== agent.toLowerCase());
    return {
      agency: context.record.get().id,
      ...(workflow.name === undefined ? {} : { workflow: workflow.name }),
      others: names.slice(0, maxListedAgents).map((name) => {
        const role = team.getRole(name);
        return role ? { name, role } : { name };
      }),
    };
  }

  return {
    describeTeam,
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

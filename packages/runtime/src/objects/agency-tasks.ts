import {
  fail,
  type NewTeamTask,
  type TaskChange,
  type TeamTask,
  type TeamTaskList,
  type TeamTaskQuery,
} from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";
import type { Actor } from "./team-actor.ts";

/** The tasks that the members of an agency share. */
export class AgencyTasks implements AgencyFeature {
  readonly api = new SharedTasksApi();

  constructor(_context: AgencyContext) {}

  forgetAgent(_name: string): void {}

  /** Called while a turn of an agent runs, and when one ends: its claims go on. */
  renewClaims(_agent: string): void {}
}

export class SharedTasksApi extends RpcTarget {
  async list(_query: TeamTaskQuery): Promise<TeamTaskList> {
    throw fail("unavailable", "Shared tasks are not there yet.");
  }

  async create(_task: NewTeamTask, _by: Actor, _key?: string): Promise<TeamTask> {
    throw fail("unavailable", "Shared tasks are not there yet.");
  }

  async claim(_id: string, _by: Actor): Promise<TeamTask> {
    throw fail("unavailable", "Shared tasks are not there yet.");
  }

  async update(_id: string, _change: TaskChange, _by: Actor): Promise<TeamTask> {
    throw fail("unavailable", "Shared tasks are not there yet.");
  }
}

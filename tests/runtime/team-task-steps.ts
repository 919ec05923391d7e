import type { NewTeamTask, TaskChange, TeamTask, TeamTaskQuery } from "@thinkery/sdk";
import type { Actor } from "../../packages/runtime/src/agency/actor.ts";

/** What a test asks the shared tasks to do. */
export interface TeamTaskStep {
  step: "create" | "claim" | "assign" | "update" | "renew" | "forget" | "expire" | "list" | "listForAgent" | "holders";
  id?: string;
  by?: Actor;
  agent?: string;
  key?: string;
  task?: NewTeamTask;
  change?: TaskChange;
  query?: TeamTaskQuery;
  /** What the clock shows (epoch ms). */
  now?: number;
  /** Adds all tasks as they are after the step. */
  shows?: boolean;
}

export interface StepResult {
  result?: ReturnType<typeof JSON.parse>;
  refused?: { code: string; message: string };
  /** What was published. */
  changed: TeamTask[];
  assigned: string[];
  tasks?: TeamTask[];
}

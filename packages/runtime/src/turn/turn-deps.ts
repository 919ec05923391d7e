import type { Blueprint, PlanSettings, Props, ThreadInfo, Tool } from "@thinkery/sdk";
import type { TurnLimits } from "@thinkery/sdk/internal";
import type { Driver, TurnModels } from "../drivers/driver.ts";
import type { Pipeline } from "../middleware/pipeline.ts";
import type { Usage } from "../model/model.ts";
import type { PolicyRules } from "../policy/evaluate-policy.ts";
import type { AgentLinux } from "../sandbox/linux.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import type { WorkspacePort } from "../workspace/workspace-port.ts";
import type { BudgetClient } from "./budget/budget-client.ts";
import type { ShellFiles } from "./calls/shell-files.ts";
import type { SchedulePort } from "./schedule-port.ts";
import type { SubagentPort } from "./subagent-port.ts";
import type { TeamPort } from "./team-port.ts";

/** What a turn depends on. Resolved before it starts, the same for all its steps. */
export interface TurnDeps {
  driver: Driver;
  models: TurnModels;
  /** The primary model's id, for the log; empty if the driver uses none of our models. */
  modelId: string;
  /** The system prompt before middleware adds to it. */
  system: string;
  /** Belongs to this turn alone: middleware may add to it. */
  tools: Toolbox;
  /** Callable only by code, in addition to the tools. */
  capabilities: readonly Tool[];
  sandbox: Sandbox;
  /** Identifies the sandbox processes that code runs in: the root agent's, shared by its sub-agents. */
  sandboxKey: string;
  workspace: WorkspacePort;
  /** The branch that the agent works on; defaults to main. */
  branch?: string | undefined;
  shellFiles: ShellFiles;
  linux: AgentLinux;
  pipeline: Pipeline;
  props: Props;
  settings: PlanSettings;
  info(): ThreadInfo;
  /** The blueprint's configuration, with all rules that apply to the agent. */
  config: (NonNullable<Blueprint["config"]> & Pick<PolicyRules, "grants">) | undefined;
  limits: TurnLimits;
  development: boolean;
  getCost(model: string, usage: Usage): number | undefined;
  budgetClient: BudgetClient;
  subagents: SubagentPort;
  /** Whether the agent has a webhook with this name. */
  hasWebhook(name: string): boolean;
  /** Removes the secrets of the environment, as the log does. */
  redact<T>(value: T): T;
  schedules: SchedulePort;
  team: TeamPort;
}

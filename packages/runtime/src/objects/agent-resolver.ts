import {
  type Agent as AgentInfo,
  type AgentAddress,
  type AgentBudget,
  type Blueprint,
  formatAddress,
  insertVariables,
  isThinkeryError,
  type Props,
} from "@thinkery/sdk";
import type { Redactor } from "@thinkery/sdk/internal";
import { formatSubagentTypes, selectSubagentTypes, type SubagentTypeInfo, toType } from "../agency/subagent-types.ts";
import { formatTeamPrompt } from "../agency/team/team-prompt.ts";
import type { Driver, DriverDefinition } from "../drivers/driver.ts";
import type { UserCode } from "../drivers/isolate/user-code.ts";
import { createSystemPrompt } from "../drivers/think/prompt.ts";
import type { Pipeline } from "../middleware/pipeline.ts";
import type { Models } from "../model/catalogue.ts";
import { openRoles } from "../model/roles.ts";
import type { AgentStore } from "../store/agent-store.ts";
import { resolveDriver } from "../system/drivers.ts";
import { type ClassLayer, mergeLimits, mergeProps } from "../system/layers.ts";
import { checkModel, openSystemModels, toValidCost } from "../system/models.ts";
import { createToolSources, createPipeline, type System } from "../system/system.ts";
import type { CallAgentTool } from "../tools/provided-tools.ts";
import { createStaticSource } from "../tools/tool-source.ts";
import { type ListedTool, Toolbox } from "../tools/toolbox.ts";
import type { BudgetClient } from "../turn/budget/budget-client.ts";
import { limitsSpending } from "../turn/budget/child-leases.ts";
import { resolveLimits } from "../turn/limits.ts";
import { createTurnScope } from "../turn/loop/create-turn-scope.ts";
import type { Recorder } from "../turn/loop/recorder.ts";
import type { SchedulePort } from "../turn/schedule-port.ts";
import type { SubagentPort } from "../turn/subagent-port.ts";
import type { TeamPort } from "../turn/team-port.ts";
import type { TurnDeps } from "../turn/turn-deps.ts";
import type { WorkspacePort } from "../workspace/workspace-port.ts";
import { addSharedRules } from "./add-shared-rules.ts";
import { AgencyReader } from "./agency-reader.ts";
import type { Env } from "./env.ts";
import { OwnTools } from "./own-tools.ts";
import type { RegisteredAgent } from "./registration.ts";
import { inheritPolicy, selectInherited, withoutApps } from "./subagents/inheritance.ts";
import { TurnEnvironment } from "./turn-environment.ts";

interface AgentResolverOptions {
  env: Env;
  address: AgentAddress;
  /** Whose sandbox processes the agent's code runs in. */
  sandboxKey: string;
  system: System;
  layer: ClassLayer;
  store: AgentStore;
  recorder: Recorder;
  workspace: WorkspacePort;
  budgetClient: BudgetClient;
  subagents(): SubagentPort;
  /** Whether the agent has this webhook, or any at all. */
  hasWebhook(name?: string): boolean;
  redactor: Redactor;
  schedules(): SchedulePort & { hasAny: boolean };
  team: TeamPort;
  code(): UserCode;
  /** Calls a tool that another agent of the agency provides, with JSON. */
  callAgentTool: CallAgentTool;
}

/** The tools and the initialized middleware of a blueprint, reused until it changes. */
interface ResolvedBlueprint {
  blueprint: Blueprint;
  tools: Toolbox;
  pipeline: Pipeline;
}

/** Resolves what an agent's next turn runs with, layer by layer. */
export class AgentResolver {
  readonly #options: AgentResolverOptions;
  readonly #environment: TurnEnvironment;
  readonly #agency: AgencyReader;
  readonly #ownTools: OwnTools;
  readonly #name: string;
  #resolved: Promise<ResolvedBlueprint> | ResolvedBlueprint | undefined;
  #resolvedFrom: Blueprint | undefined;
  /** Reused between turns: a driver may cache what it derived from the conversation. */
  #driver: { definition: DriverDefinition; driver: Driver } | undefined;

  constructor(options: AgentResolverOptions) {
    this.#options = options;
    this.#name = formatAddress(options.address);
    this.#agency = new AgencyReader(options.env, options.address);
    this.#ownTools = new OwnTools({ ...options, agency: this.#agency });
    this.#environment = new TurnEnvironment({ ...options, name: this.#name });
  }

  /** `callers` are the agents that wait for this one, outermost first, if it runs a tool for them. */
  async resolve(registered: RegisteredAgent, request?: Props, callers: readonly string[] = []): Promise<TurnDeps> {
    const { env, system, layer, budgetClient } = this.#options;
    const { agent } = registered;
    const { blueprint, pipeline, tools: base } = await this.#resolveBlueprint(registered);
    await base.refresh({ retryFailed: true });
    const props = mergeProps(registered.props, request);
    const tools = this.#ownTools.add(base, [registered.props, ...(request ? [request] : [])], callers);
    this.#ownTools.enableGroups(tools);
    const { team } = this.#agency.lastRules;
    const models = openSystemModels(env, system);
    const roles = this.#openRoles(models, registered, blueprint, request);
    const { definition, driver } = this.#openDriver(agent, blueprint);
    return {
      ...this.#createBaseDeps(registered, blueprint, props, tools),
      ...this.#environment.get(registered.assignment?.branch),
      pipeline,
      driver,
      modelId: definition.needsModel ? (await roles.getPrimary()).id : "",
      models: {
        open: (role) => roles.getModel(role),
        openById: (id) => models.resolve(id),
        getId: (role) => roles.getModelId(role),
        getContextWindow: (modelId) => models.getContextTokens(modelId),
      },
      system: createSystemPrompt({
        blueprint: insertVariables(blueprint.prompt, this.#agency.lastRules.vars ?? {}),
        assignment: registered.assignment !== undefined,
        subagents: tools.find("task") ? formatSubagentTypes(await this.#selectTypes(blueprint), blueprint.name) : "",
        team: team ? formatTeamPrompt(this.#options.address.path[0], team) : "",
        class: layer.instructions(),
        props: [agent.system, props.additionalInstructions],
      }),
      settings: props.settings ?? {},
      getCost: (model, usage) => toValidCost(models.computeCost(model, usage)),
      budgetClient,
      subagents: this.#options.subagents(),
      hasWebhook: (name) => this.#options.hasWebhook(name),
      redact: (value) => this.#options.redactor.redactValue(value),
      schedules: this.#options.schedules(),
      team: this.#options.team,
    };
  }

  /** Returns the types of sub-agents that an agent may name. */
  async listSubagentTypes(registered: RegisteredAgent): Promise<readonly SubagentTypeInfo[]> {
    return this.#selectTypes(await this.readBlueprint(registered));
  }

  /** Resolves what a sub-agent of this type gets from its parent. */
  async resolveForChild(registered: RegisteredAgent, request: Props | undefined, typeName: string) {
    const { agent, assignment } = registered;
    const blueprint = await this.readBlueprint(registered);
    const types = await this.#selectTypes(blueprint);
    const type =
      types.find(({ name }) => name === typeName) ??
      (typeName === agent.blueprint ? toType(blueprint, assignment?.blueprint) : undefined);
    const models = openSystemModels(this.#options.env, this.#options.system);
    const roles = this.#openRoles(models, registered, blueprint, request);
    const inherited = mergeProps(registered.props, request);
    const { config } = this.#createBaseDeps(registered, blueprint, inherited, new Toolbox());
    const budget: AgentBudget | undefined = config?.budget;
    return {
      type,
      isLeased: limitsSpending(budget) || limitsSpending(budget?.agent) || assignment?.isLeased === true,
      model: type?.model ? undefined : await roles.getModelId("fast").catch(() => undefined),
      // Its main model plays the role “fast”, unless its blueprint chose one.
      ...selectInherited(config, inherited, type?.model || type?.effort ? undefined : roles.getEffort("fast")),
    };
  }

  #openRoles(models: Models, { agent, props }: RegisteredAgent, blueprint: Blueprint, request: Props | undefined) {
    const { system, layer } = this.#options;
    return openRoles(models, [
      { ...request?.models, reasoning: request?.reasoning },
      { ...props.models, reasoning: props.reasoning },
      ...(agent.model ? [{ primary: agent.model }] : []),
      {
        ...(blueprint.model ? { primary: blueprint.model } : {}),
        ...blueprint.models,
        reasoning: blueprint.reasoning,
      },
      { ...layer.models(), reasoning: layer.reasoning() },
      ...(system.defaultModel ? [{ primary: system.defaultModel }] : []),
    ]);
  }

  async #selectTypes(blueprint: Blueprint): Promise<readonly SubagentTypeInfo[]> {
    return selectSubagentTypes(blueprint, (await this.#agency.readRules()).types);
  }

  /** Throws if the props are invalid for this agent. `blueprint` is passed while the agent is being created. */
  async check(registered: RegisteredAgent, request: Props | undefined, blueprint?: Blueprint): Promise<void> {
    const { env, system } = this.#options;
    if (!request?.tools && !request?.models) return;
    const models = openSystemModels(env, system);
    for (const [role, id] of Object.entries(request.models ?? {})) checkModel(models, id, ["props", "models", role]);
    if (blueprint) this.#agency.presetBlueprint(blueprint);
    const { tools } = await (blueprint
      ? this.#useBlueprint(registered, blueprint)
      : this.#resolveBlueprint(registered));
    this.#ownTools.add(tools, [registered.props, request]);
  }

  /** Returns the tools of an agent between turns, and what its middleware adds to its state. */
  async preview(registered: RegisteredAgent): Promise<{ tools: Toolbox; added: Record<string, unknown> }> {
    const { blueprint, pipeline, tools } = await this.#resolveBlueprint(registered);
    const allTools = this.#ownTools.add(tools, [registered.props]);
    const scope = this.#createScope(registered, blueprint, allTools);
    return { tools: allTools, added: pipeline.createRunner(scope).collectState() };
  }

  /** Returns the tools of an agent between turns, and where they come from. */
  async listTools(registered: RegisteredAgent): Promise<ListedTool[]> {
    const { tools: base } = await this.#resolveBlueprint(registered);
    const tools = this.#ownTools.add(base, [registered.props]);
    this.#ownTools.enableGroups(tools);
    return tools.list();
  }

  /** Returns the tools of an agent, and the rules that apply to them. */
  async resolveTools(registered: RegisteredAgent): Promise<Pick<TurnDeps, "tools" | "config">> {
    const { blueprint, tools } = await this.#resolveBlueprint(registered);
    return this.#createBaseDeps(registered, blueprint, registered.props, this.#ownTools.add(tools, [registered.props]));
  }

  /** Called when the conversation is cleared. */
  resetDriver(): void {
    this.#driver?.driver.reset?.();
  }

  /** Whether the agency wants to know what its agents do, as far as was last read. */
  get isWatched(): boolean {
    const { watched, team } = this.#agency.lastRules;
    return watched || team !== undefined;
  }

  /** Whether the agent must reserve budget before it spends. Synchronous while the cached value is fresh. */
  isMetered(): boolean | Promise<boolean> {
    return this.#agency.isMetered();
  }

  /** Returns the agent's own budget. Works without the blueprint too, because usage remains after it is deleted. */
  async resolveBudget(registered: RegisteredAgent, request?: Props): Promise<AgentBudget | undefined> {
    const blueprint = await this.readBlueprint(registered).catch((error: unknown) => {
      if (isThinkeryError(error) && error.code === "not_found") return undefined;
      throw error;
    });
    return mergeLimits(mergeLimits(blueprint?.config?.budget, registered.props.budget), request?.budget);
  }

  #openDriver(agent: AgentInfo, blueprint: Blueprint): { definition: DriverDefinition; driver: Driver } {
    const definition = resolveDriver(this.#options.system.drivers, agent, blueprint);
    if (this.#driver?.definition !== definition)
      this.#driver = {
        definition,
        driver: definition.create({ store: this.#options.store, code: this.#options.code() }),
      };
    return this.#driver;
  }

  async #resolveBlueprint(registered: RegisteredAgent): Promise<ResolvedBlueprint> {
    return this.#useBlueprint(registered, await this.readBlueprint(registered));
  }

  async #useBlueprint(registered: RegisteredAgent, blueprint: Blueprint): Promise<ResolvedBlueprint> {
    if (this.#resolvedFrom !== blueprint || !this.#resolved) {
      const previous = this.#resolved;
      this.#resolvedFrom = blueprint;
      const loading = this.#load(registered, blueprint);
      this.#resolved = loading;
      loading.then(
        (resolved) => {
          if (this.#resolvedFrom === blueprint) this.#resolved = resolved;
        },
        () => {
          if (this.#resolvedFrom === blueprint) this.#resolved = undefined;
        },
      );
      // A running turn keeps its tools; they just no longer change.
      void Promise.resolve(previous).then(
        (old) => old?.tools.close(),
        () => {},
      );
    }
    return this.#resolved;
  }

  async #load(registered: RegisteredAgent, blueprint: Blueprint): Promise<ResolvedBlueprint> {
    const { system, layer } = this.#options;
    const tools = await Toolbox.load([
      ...createToolSources(registered.assignment ? withoutApps(system) : system, { agent: this.#name, blueprint }),
      createStaticSource("the class", layer.tools(), "class"),
    ]);
    const pipeline = createPipeline(system, blueprint);
    await pipeline.createRunner(this.#createScope(registered, blueprint, tools)).runInit();
    return { blueprint, tools, pipeline };
  }

  #createScope(registered: RegisteredAgent, blueprint: Blueprint, tools: Toolbox) {
    const { store, recorder } = this.#options;
    return createTurnScope({
      agent: this.#name,
      runId: "",
      store,
      deps: this.#createBaseDeps(registered, blueprint, registered.props, tools),
      signal: new AbortController().signal,
      step: () => 0,
      plan: () => undefined,
      generate: () => Promise.reject(new Error("A model can only be called during a turn.")),
      hold: (...events) => recorder.record(...events),
      flush: () => {},
    });
  }

  #createBaseDeps({ agent, assignment }: RegisteredAgent, blueprint: Blueprint, props: Props, tools: Toolbox) {
    const { env, store } = this.#options;
    const own = assignment ? inheritPolicy(blueprint.config, assignment) : blueprint.config;
    // They were read with the blueprint.
    const config = addSharedRules(own, this.#agency.lastRules, env, this.#options.address);
    const budget = mergeLimits(config?.budget, props.budget);
    const maxSteps = Math.min(budget?.steps ?? Infinity, assignment?.maxSteps ?? Infinity);
    return {
      tools,
      props,
      config: budget ? { ...config, budget } : config,
      info: () => ({ ...agent, request: store.facts.getRequestContext() }),
      limits: resolveLimits(env.TURN_LIMITS, maxSteps === Infinity ? undefined : maxSteps),
      // With a daemon, the developer wants to see errors in detail.
      development: env.HOST !== undefined,
    };
  }

  /** Returns the agent's blueprint. */
  async readBlueprint({ agent, assignment }: RegisteredAgent): Promise<Blueprint> {
    if (!assignment?.blueprint) return this.#agency.readBlueprint(agent.blueprint);
    await this.#agency.readRules();
    return assignment.blueprint;
  }
}

import {
  type Agent as AgentInfo,
  type AgentAddress,
  type AgentBudget,
  type Blueprint,
  formatAddress,
  isThinkeryError,
  type Props,
} from "@thinkery/sdk";
import { getRevision } from "../agency/revision.ts";
import type { Driver, DriverDefinition } from "../drivers/driver.ts";
import { createSystemPrompt } from "../drivers/think/prompt.ts";
import { openOutbound } from "../host/outbound.ts";
import type { Pipeline } from "../middleware/pipeline.ts";
import { createKeyRedactor } from "../model/redactor.ts";
import { openRoles } from "../model/roles.ts";
import { openLinux } from "../sandbox/linux.ts";
import { openSandbox } from "../sandbox/open.ts";
import type { AgentStore } from "../store/agent-store.ts";
import { resolveDriver } from "../system/drivers.ts";
import { attachPropsTools, type ClassLayer, mergeLimits, mergeProps } from "../system/layers.ts";
import { checkModel, openSystemModels } from "../system/models.ts";
import { createToolSources, createPipeline, type System } from "../system/system.ts";
import { createCapabilities } from "../tools/capabilities/capabilities.ts";
import { createStaticSource } from "../tools/tool-source.ts";
import { Toolbox } from "../tools/toolbox.ts";
import type { BudgetClient } from "../turn/budget/budget-client.ts";
import { ShellFiles } from "../turn/calls/shell-files.ts";
import { resolveLimits } from "../turn/limits.ts";
import { createTurnScope } from "../turn/loop/create-turn-scope.ts";
import type { Recorder } from "../turn/loop/recorder.ts";
import type { TurnDeps } from "../turn/turn-deps.ts";
import type { WorkspacePort } from "../workspace/workspace-port.ts";
import type { Env } from "./env.ts";
import type { RegisteredAgent } from "./registration.ts";

/** Another isolate (Cloudflare) may have changed the blueprint without our hearing of it. */
const ttlMs = 30_000;

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
}

/** What the agency said, and when. */
interface Cached<T> {
  value: T;
  revision: number;
  at: number;
}

/** What follows from the blueprint alone, until it changes: its tools and its middleware, which was initialized. */
interface ResolvedBlueprint {
  blueprint: Blueprint;
  tools: Toolbox;
  pipeline: Pipeline;
}

/** Finds what an agent's next turn is computed with, layer by layer. */
export class AgentResolver {
  readonly #options: AgentResolverOptions;
  /** The same for every turn. */
  readonly #environment: Pick<
    TurnDeps,
    "capabilities" | "sandbox" | "workspace" | "shellFiles" | "sandboxKey" | "linux"
  >;
  readonly #name: string;
  #blueprintCache: Cached<Blueprint> | undefined;
  #meteredCache: Cached<boolean> | undefined;
  #resolved: Promise<ResolvedBlueprint> | ResolvedBlueprint | undefined;
  #resolvedFrom: Blueprint | undefined;
  /** Kept between turns: a driver may remember what it derived from the conversation. */
  #driver: { definition: DriverDefinition; driver: Driver } | undefined;

  constructor(options: AgentResolverOptions) {
    const { env, address, sandboxKey } = options;
    this.#options = options;
    this.#name = formatAddress(address);
    this.#environment = {
      capabilities: createCapabilities(openOutbound(env), createKeyRedactor(env)),
      sandbox: openSandbox(env),
      workspace: options.workspace,
      shellFiles: new ShellFiles(options.workspace),
      sandboxKey,
      linux: openLinux(env, this.#name),
    };
  }

  async resolve(registered: RegisteredAgent, request?: Props): Promise<TurnDeps> {
    const { env, system, layer, budgetClient } = this.#options;
    const { agent } = registered;
    const { blueprint, pipeline, tools: base } = await this.#resolveBlueprint(registered);
    await base.refresh({ retryFailed: true });
    const props = mergeProps(registered.props, request);
    const tools = this.#addPropsTools(base, registered, request);
    const models = openSystemModels(env, system);
    const roles = openRoles(models, [
      ...(request?.models ? [request.models] : []),
      ...(registered.props.models ? [registered.props.models] : []),
      ...(agent.model ? [{ primary: agent.model }] : []),
      { ...(blueprint.model ? { primary: blueprint.model } : {}), ...blueprint.models },
      layer.models(),
      ...(system.defaultModel ? [{ primary: system.defaultModel }] : []),
    ]);
    const { definition, driver } = this.#openDriver(agent, blueprint);
    return {
      ...this.#createBaseDeps(registered, blueprint, props, tools),
      ...this.#environment,
      pipeline,
      driver,
      modelId: definition.needsModel ? (await roles.getPrimary()).id : "",
      models: {
        open: (role) => roles.getModel(role),
        getId: (role) => roles.getModelId(role),
        getContextWindow: (modelId) => models.getContextTokens(modelId),
      },
      system: createSystemPrompt({
        blueprint: blueprint.prompt,
        class: layer.instructions(),
        props: [agent.system, props.additionalInstructions],
      }),
      settings: props.settings ?? {},
      getCost: (model, usage) => toValidCost(models.computeCost(model, usage)),
      budgetClient,
    };
  }

  /** Throws if this agent cannot have these props. One that is being created brings its blueprint. */
  async check(registered: RegisteredAgent, request: Props | undefined, blueprint?: Blueprint): Promise<void> {
    const { env, system } = this.#options;
    if (!request?.tools && !request?.models) return;
    const models = openSystemModels(env, system);
    for (const [role, id] of Object.entries(request.models ?? {})) checkModel(models, id, ["props", "models", role]);
    if (blueprint) this.#blueprintCache ??= { value: blueprint, revision: -1, at: 0 };
    const { tools } = await (blueprint
      ? this.#useBlueprint(registered, blueprint)
      : this.#resolveBlueprint(registered));
    this.#addPropsTools(tools, registered, request);
  }

  /** What can be seen of an agent between its turns: its tools, and what its middleware adds to its state. */
  async preview(registered: RegisteredAgent): Promise<{ tools: Toolbox; added: Record<string, unknown> }> {
    const { blueprint, pipeline, tools } = await this.#resolveBlueprint(registered);
    const own = this.#addPropsTools(tools, registered);
    return { tools: own, added: pipeline.createRunner(this.#createScope(registered, blueprint, own)).collectState() };
  }

  /** The conversation was cleared. */
  resetDriver(): void {
    this.#driver?.driver.reset?.();
  }

  /** Has the agent to ask before it spends? Known at once, but for when that may have changed. */
  isMetered(): boolean | Promise<boolean> {
    const known = this.#meteredCache;
    return known && this.#isFresh(known) ? known.value : this.#fetchMetered();
  }

  /** What its blueprint lets the agent spend. One whose blueprint is gone has spent something nevertheless. */
  async resolveBudget({ agent, props }: RegisteredAgent): Promise<AgentBudget | undefined> {
    const blueprint = await this.#readBlueprint(agent.blueprint).catch((error: unknown) => {
      if (isThinkeryError(error) && error.code === "not_found") return undefined;
      throw error;
    });
    return mergeLimits(blueprint?.config?.budget, props.budget);
  }

  #openDriver(agent: AgentInfo, blueprint: Blueprint): { definition: DriverDefinition; driver: Driver } {
    const definition = resolveDriver(this.#options.system.drivers, agent, blueprint);
    if (this.#driver?.definition !== definition) this.#driver = { definition, driver: definition.create() };
    return this.#driver;
  }

  async #resolveBlueprint(registered: RegisteredAgent): Promise<ResolvedBlueprint> {
    return this.#useBlueprint(registered, await this.#readBlueprint(registered.agent.blueprint));
  }

  async #useBlueprint(registered: RegisteredAgent, blueprint: Blueprint): Promise<ResolvedBlueprint> {
    if (this.#resolvedFrom !== blueprint || !this.#resolved) {
      const before = this.#resolved;
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
      // A turn that still runs keeps the tools it has; they no longer change.
      void Promise.resolve(before).then(
        (old) => old?.tools.close(),
        () => {},
      );
    }
    return this.#resolved;
  }

  async #load(registered: RegisteredAgent, blueprint: Blueprint): Promise<ResolvedBlueprint> {
    const { system, layer } = this.#options;
    const tools = await Toolbox.load([
      ...createToolSources(system, { agent: this.#name, blueprint }),
      createStaticSource("the class", layer.tools()),
    ]);
    const pipeline = createPipeline(system, blueprint);
    await pipeline.createRunner(this.#createScope(registered, blueprint, tools)).runInit();
    return { blueprint, tools, pipeline };
  }

  /** Returns a toolbox of its own, with the tools that the agent and the request were given. */
  #addPropsTools(tools: Toolbox, { props }: RegisteredAgent, request: Props = {}): Toolbox {
    const { env, system } = this.#options;
    const own = new Toolbox([], tools);
    for (const given of [props, request]) attachPropsTools(own, system, given, openOutbound(env));
    return own;
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
      consult: () => Promise.reject(new Error("A model can be consulted during a turn only.")),
      hold: (...events) => recorder.record(...events),
      flush: () => {},
    });
  }

  #createBaseDeps({ agent }: RegisteredAgent, { config }: Blueprint, props: Props, tools: Toolbox) {
    const { env, store } = this.#options;
    const budget = mergeLimits(config?.budget, props.budget);
    return {
      tools,
      props,
      config: budget ? { ...config, budget } : config,
      info: () => ({ ...agent, request: store.facts.getRequestContext() }),
      limits: resolveLimits(env.TURN_LIMITS, budget?.steps),
      // Whoever runs a daemon wants to see their mistakes.
      development: env.HOST !== undefined,
    };
  }

  async #readBlueprint(name: string): Promise<Blueprint> {
    const known = this.#blueprintCache;
    if (known && this.#isFresh(known)) return known.value;
    const revision = getRevision(this.#options.address.agency);
    const { blueprint: read, metered } = await this.#options.env.Agency.getByName(
      this.#options.address.agency,
    ).resolveBlueprint(name);
    // The same once more is the same: middleware need not start again.
    const value = known && JSON.stringify(known.value) === JSON.stringify(read) ? known.value : read;
    const at = Date.now();
    this.#blueprintCache = { value, revision, at };
    this.#meteredCache = { value: metered, revision, at };
    return value;
  }

  /** A turn goes on with the blueprint it began with, whatever becomes of that; but not beyond a budget set meanwhile. */
  async #fetchMetered(): Promise<boolean> {
    const revision = getRevision(this.#options.address.agency);
    const value = await this.#options.env.Agency.getByName(this.#options.address.agency).isMetered();
    this.#meteredCache = { value, revision, at: Date.now() };
    return value;
  }

  #isFresh({ revision, at }: Cached<unknown>): boolean {
    return revision === getRevision(this.#options.address.agency) && Date.now() - at < ttlMs;
  }
}

/** A price of somebody's own may be nonsense; then it is not known. */
function toValidCost(usd: number | undefined): number | undefined {
  return usd !== undefined && usd >= 0 && usd < Infinity ? usd : undefined;
}

import { type Agent as AgentInfo, type AgentBudget, type Blueprint, isThinkeryError, parseAgentObjectName, type Props } from "@thinkery/sdk";
import { revisionOf } from "../agency/revision.ts";
import { systemPrompt } from "../drivers/think/prompt.ts";
import { openOutbound } from "../host/outbound.ts";
import type { Pipeline } from "../middleware/pipeline.ts";
import { openRoles } from "../model/roles.ts";
import { openLinux } from "../sandbox/linux.ts";
import { openSandbox } from "../sandbox/open.ts";
import type { AgentStore } from "../store/agent-store.ts";
import { addPropsTools, type ClassLayer, lower, mergedProps } from "../system/layers.ts";
import { checkModel, systemModels } from "../system/models.ts";
import { pipelineOf, type System, toolSources } from "../system/system.ts";
import { capabilitiesOf } from "../tools/capabilities/capabilities.ts";
import { Toolbox } from "../tools/toolbox.ts";
import type { TurnDeps } from "../turn/turn-deps.ts";
import { limitsFrom } from "../turn/limits.ts";
import type { Books } from "../turn/purse.ts";
import type { Recorder } from "../turn/recorder.ts";
import { stageOf } from "../turn/stage.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Env } from "./env.ts";

/** Another isolate (Cloudflare) may have changed the blueprint without our hearing of it. */
const trustFor = 30_000;

interface EquipperOptions {
  env: Env;
  object: string;
  system: System;
  layer: ClassLayer;
  store: AgentStore;
  recorder: Recorder;
  workspace: Workspace;
  books: Books;
}

export interface Registered {
  agent: AgentInfo;
  props: Props;
}

/** What the agency said, and when. */
interface Known<T> {
  value: T;
  revision: number;
  at: number;
}

/** What follows from the blueprint alone, until it changes: its tools and its middleware, which has had its start. */
interface Outfit {
  blueprint: Blueprint;
  tools: Toolbox;
  pipeline: Pipeline;
}

/** Finds what an agent's next turn is computed with, layer by layer. */
export class Equipper {
  readonly #options: EquipperOptions;
  /** The same for every turn. */
  readonly #doors: Pick<TurnDeps, "capabilities" | "sandbox" | "workspace" | "linux">;
  readonly #agency: string;
  #known: Known<Blueprint> | undefined;
  #metered: Known<boolean> | undefined;
  #outfit: Promise<Outfit> | Outfit | undefined;
  #outfitOf: Blueprint | undefined;

  constructor(options: EquipperOptions) {
    const { env, object } = options;
    this.#options = options;
    this.#doors = { capabilities: capabilitiesOf(openOutbound(env)), sandbox: openSandbox(env), workspace: options.workspace, linux: openLinux(env, object) };
    this.#agency = parseAgentObjectName(options.object)?.agency ?? "";
  }

  async equip(registered: Registered, request?: Props): Promise<TurnDeps> {
    const { env, system, layer } = this.#options;
    const { agent } = registered;
    const { blueprint, ...outfit } = await this.#outfitFor(registered);
    const props = mergedProps(registered.props, request);
    const models = systemModels(env, system);
    const roles = openRoles(models, [
      ...(request?.models ? [request.models] : []),
      ...(registered.props.models ? [registered.props.models] : []),
      ...(agent.model ? [{ primary: agent.model }] : []),
      { ...(blueprint.model ? { primary: blueprint.model } : {}), ...blueprint.models },
      layer.models(),
      ...(system.defaultModel ? [{ primary: system.defaultModel }] : []),
    ]);
    const tools = this.#withProps(outfit.tools, registered, request);
    return {
      ...this.#surroundings(registered, blueprint, props, tools),
      pipeline: outfit.pipeline,
      ...this.#doors,
      model: await roles.primary(),
      modelOf: (role) => roles.of(role),
      vision: await roles.idOf("vision"),
      contextOf: (model) => models.contextOf(model),
      system: systemPrompt({
        blueprint: blueprint.prompt,
        class: layer.instructions(),
        props: [agent.system, props.additionalInstructions],
      }),
      settings: props.settings ?? {},
      costOf: (model, usage) => amount(models.costOf(model, usage)),
      books: this.#options.books,
    };
  }

  /** Refuses props that this agent cannot have. One that is just being made brings its blueprint. */
  async check(registered: Registered, request: Props | undefined, blueprint?: Blueprint): Promise<void> {
    const { env, system } = this.#options;
    if (!request?.tools && !request?.models) return;
    const models = systemModels(env, system);
    for (const [role, id] of Object.entries(request.models ?? {})) checkModel(models, id, ["props", "models", role]);
    if (blueprint) this.#known ??= { value: blueprint, revision: -1, at: 0 };
    const { tools } = await (blueprint ? this.#wear(registered, blueprint) : this.#outfitFor(registered));
    this.#withProps(tools, registered, request);
  }

  /** What can be seen of an agent between its turns: its tools, and what its middleware adds to its state. */
  async glimpse(registered: Registered): Promise<{ tools: Toolbox; added: Record<string, unknown> }> {
    const { blueprint, pipeline, tools } = await this.#outfitFor(registered);
    const own = this.#withProps(tools, registered);
    return { tools: own, added: pipeline.on(this.#stage(registered, blueprint, own)).state() };
  }

  /** Has the agent to ask before it spends? Known at once, but for when that may have changed. */
  metered(): boolean | Promise<boolean> {
    const known = this.#metered;
    return known && this.#isFresh(known) ? known.value : this.#askMetered();
  }

  /** What its blueprint lets the agent spend. One whose blueprint is gone has spent something nevertheless. */
  async budget({ agent, props }: Registered): Promise<AgentBudget | undefined> {
    const blueprint = await this.#read(agent.blueprint).catch((error: unknown) => {
      if (isThinkeryError(error) && error.code === "not_found") return undefined;
      throw error;
    });
    return lower(blueprint?.config?.budget, props.budget);
  }

  async #outfitFor(registered: Registered): Promise<Outfit> {
    const blueprint = await this.#read(registered.agent.blueprint);
    return this.#wear(registered, blueprint);
  }

  async #wear(registered: Registered, blueprint: Blueprint): Promise<Outfit> {
    if (this.#outfitOf !== blueprint || !this.#outfit) {
      this.#outfitOf = blueprint;
      const made = this.#fit(registered, blueprint);
      this.#outfit = made;
      made.then(
        (outfit) => {
          if (this.#outfitOf === blueprint) this.#outfit = outfit;
        },
        () => {
          if (this.#outfitOf === blueprint) this.#outfit = undefined;
        },
      );
    }
    return this.#outfit;
  }

  async #fit(registered: Registered, blueprint: Blueprint): Promise<Outfit> {
    const { system, layer } = this.#options;
    const tools = new Toolbox([...toolSources(system, blueprint), { from: "the class", tools: layer.tools() }]);
    const pipeline = pipelineOf(system, blueprint);
    await pipeline.on(this.#stage(registered, blueprint, tools)).init();
    return { blueprint, tools, pipeline };
  }

  /** A box of its own, with the tools that the agent and the request were given. */
  #withProps(tools: Toolbox, { props }: Registered, request: Props = {}): Toolbox {
    const { env, system } = this.#options;
    const own = tools.copy();
    for (const given of [props, request]) addPropsTools(own, system, given, openOutbound(env));
    return own;
  }

  #stage(registered: Registered, blueprint: Blueprint, tools: Toolbox) {
    const { store, recorder, object } = this.#options;
    return stageOf({
      agent: object,
      runId: "",
      store,
      deps: this.#surroundings(registered, blueprint, registered.props, tools),
      signal: new AbortController().signal,
      step: () => 0,
      plan: () => undefined,
      consult: () => Promise.reject(new Error("A model can be consulted during a turn only.")),
      hold: (...events) => recorder.record(...events),
      flush: () => {},
    });
  }

  #surroundings({ agent }: Registered, { config }: Blueprint, props: Props, tools: Toolbox) {
    const { env, store } = this.#options;
    const budget = lower(config?.budget, props.budget);
    return {
      tools,
      props,
      config: budget ? { ...config, budget } : config,
      info: () => ({ ...agent, request: store.facts.request() }),
      limits: limitsFrom(env.TURN_LIMITS, budget?.steps),
      // Whoever runs a daemon wants to see their mistakes.
      development: env.HOST !== undefined,
    };
  }

  async #read(name: string): Promise<Blueprint> {
    const known = this.#known;
    if (known && this.#isFresh(known)) return known.value;
    const revision = revisionOf(this.#agency);
    const { blueprint: read, metered } = await this.#options.env.Agency.getByName(this.#agency).provide(name);
    // The same once more is the same: middleware need not start again.
    const value = known && JSON.stringify(known.value) === JSON.stringify(read) ? known.value : read;
    const at = Date.now();
    this.#known = { value, revision, at };
    this.#metered = { value: metered, revision, at };
    return value;
  }

  /** A turn goes on with the blueprint it began with, whatever becomes of that; but not beyond a budget set meanwhile. */
  async #askMetered(): Promise<boolean> {
    const revision = revisionOf(this.#agency);
    const value = await this.#options.env.Agency.getByName(this.#agency).isMetered();
    this.#metered = { value, revision, at: Date.now() };
    return value;
  }

  #isFresh({ revision, at }: Known<unknown>): boolean {
    return revision === revisionOf(this.#agency) && Date.now() - at < trustFor;
  }
}

/** A price of somebody's own may be nonsense; then it is not known. */
function amount(usd: number | undefined): number | undefined {
  return usd !== undefined && usd >= 0 && usd < Infinity ? usd : undefined;
}

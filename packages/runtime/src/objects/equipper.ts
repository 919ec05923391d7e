import { type Agent as AgentInfo, type Blueprint, parseAgentObjectName, type Props } from "@thinkery/sdk";
import { blueprintRevision } from "../agency/blueprints.ts";
import { systemPrompt } from "../drivers/think/prompt.ts";
import { openOutbound } from "../host/outbound.ts";
import type { Pipeline } from "../middleware/pipeline.ts";
import { openRoles } from "../model/roles.ts";
import type { AgentStore } from "../store/agent-store.ts";
import { addPropsTools, type ClassLayer, lower, mergedProps } from "../system/layers.ts";
import { checkModel, systemModels } from "../system/models.ts";
import { pipelineOf, type System, toolSources } from "../system/system.ts";
import { Toolbox } from "../tools/toolbox.ts";
import type { Equipment } from "../turn/equipment.ts";
import { limitsFrom } from "../turn/limits.ts";
import type { Recorder } from "../turn/recorder.ts";
import { stageOf } from "../turn/stage.ts";
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
}

export interface Registered {
  agent: AgentInfo;
  props: Props;
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
  readonly #agency: string;
  #known: { blueprint: Blueprint; revision: number; at: number } | undefined;
  #outfit: Promise<Outfit> | Outfit | undefined;
  #outfitOf: Blueprint | undefined;

  constructor(options: EquipperOptions) {
    this.#options = options;
    this.#agency = parseAgentObjectName(options.object)?.agency ?? "";
  }

  async equip(registered: Registered, request?: Props): Promise<Equipment> {
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
    const tools = outfit.tools.copy();
    if (props.tools) addPropsTools(tools, system, props, openOutbound(env));
    return {
      ...this.#surroundings(registered, blueprint, props, tools),
      pipeline: outfit.pipeline,
      model: await roles.primary(),
      modelOf: (role) => roles.of(role),
      system: systemPrompt({
        blueprint: blueprint.prompt,
        class: layer.instructions(),
        props: [agent.system, props.additionalInstructions],
      }),
      settings: props.settings ?? {},
      costOf: (model, usage) => models.costOf(model, usage),
    };
  }

  /** Refuses props that this agent cannot have. */
  async check(registered: Registered, request: Props | undefined): Promise<void> {
    const { env, system } = this.#options;
    if (!request?.tools && !request?.models) return;
    const models = systemModels(env, system);
    for (const [role, id] of Object.entries(request.models ?? {})) checkModel(models, id, ["props", "models", role]);
    const { tools } = await this.#outfitFor(registered);
    const copy = tools.copy();
    addPropsTools(copy, system, mergedProps(registered.props, request), openOutbound(env));
  }

  /** What can be seen of an agent between its turns: its tools, and what its middleware adds to its state. */
  async glimpse(registered: Registered): Promise<{ tools: Toolbox; added: Record<string, unknown> }> {
    const { system, env } = this.#options;
    const { blueprint, pipeline, tools } = await this.#outfitFor(registered);
    const own = tools.copy();
    addPropsTools(own, system, registered.props, openOutbound(env));
    return { tools: own, added: pipeline.on(this.#stage(registered, blueprint, own)).state() };
  }

  async #outfitFor(registered: Registered): Promise<Outfit> {
    const blueprint = await this.#read(registered.agent.blueprint);
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

  #stage(registered: Registered, blueprint: Blueprint, tools: Toolbox) {
    const { store, recorder, object } = this.#options;
    return stageOf({
      agent: object,
      runId: "",
      store,
      equipment: this.#surroundings(registered, blueprint, registered.props, tools),
      signal: new AbortController().signal,
      step: () => 0,
      plan: () => undefined,
      consult: () => Promise.reject(new Error("A model can be consulted during a turn only.")),
      hold: (...events) => recorder.record(...events),
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
    const now = Date.now();
    const revision = blueprintRevision(this.#agency);
    if (known?.revision === revision && now - known.at < trustFor) return known.blueprint;
    const read = await this.#options.env.Agency.getByName(this.#agency).getBlueprint(name);
    // The same once more is the same: middleware need not start again.
    const same = known && JSON.stringify(known.blueprint) === JSON.stringify(read);
    const blueprint = same ? known.blueprint : read;
    this.#known = { blueprint, revision, at: now };
    return blueprint;
  }
}

import { type Agent as AgentInfo, type Blueprint, parseAgentObjectName } from "@thinkery/sdk";
import { blueprintRevision } from "../agency/blueprints.ts";
import { systemPrompt } from "../drivers/think/prompt.ts";
import { openModels } from "../model/catalogue.ts";
import type { Tool } from "../tools/tool.ts";
import { Toolbox } from "../tools/toolbox.ts";
import { limitsFrom } from "../turn/limits.ts";
import type { Equipment } from "../turn/running.ts";
import type { Env } from "./env.ts";

/** Another isolate (Cloudflare) may have changed the blueprint without our hearing of it. */
const trustFor = 30_000;

/** Finds what an agent's next turn is computed with: its blueprint, its model, its tools. */
export class Equipper {
  readonly #env: Env;
  readonly #agency: string;
  readonly #tools: () => Tool[];
  #blueprint: { value: Blueprint; revision: number; at: number } | undefined;
  #toolbox: Toolbox | undefined;

  constructor(env: Env, object: string, tools: () => Tool[]) {
    this.#env = env;
    this.#agency = parseAgentObjectName(object)?.agency ?? "";
    this.#tools = tools;
  }

  tools(): Toolbox {
    this.#toolbox ??= new Toolbox(this.#tools());
    return this.#toolbox;
  }

  async equip(agent: AgentInfo): Promise<Equipment> {
    const blueprint = await this.#read(agent.blueprint);
    const models = openModels(this.#env);
    const id = agent.model ?? blueprint.model ?? (await models.fallback()).id;
    const model = await models.resolve(id);
    return {
      model,
      system: systemPrompt({ blueprint: blueprint.prompt, ...(agent.system ? { own: agent.system } : {}) }),
      tools: this.tools(),
      config: blueprint.config,
      limits: limitsFrom(this.#env.TURN_LIMITS, blueprint.config?.budget?.steps),
      costOf: (usage) => models.costOf(model.id, usage),
    };
  }

  async #read(name: string): Promise<Blueprint> {
    const known = this.#blueprint;
    const now = Date.now();
    const revision = blueprintRevision(this.#agency);
    if (known?.revision === revision && now - known.at < trustFor) return known.value;
    const value = await this.#env.Agency.getByName(this.#agency).getBlueprint(name);
    this.#blueprint = { value, revision, at: now };
    return value;
  }
}

import type { Blueprint, ListedBlueprint } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { Blueprints } from "../agency/blueprints.ts";
import { addWarnings, checkNewBlueprint } from "../system/check-blueprint.ts";
import type { System } from "../system/system.ts";
import type { Env } from "./env.ts";

interface BlueprintParts {
  env: Env;
  system: System;
  blueprints: Blueprints;
  onChange(): void;
}

/** The blueprints of an agency. */
export class BlueprintsApi extends RpcTarget {
  readonly #open: () => Promise<BlueprintParts>;

  constructor(open: () => Promise<BlueprintParts>) {
    super();
    this.#open = open;
  }

  async list(): Promise<ListedBlueprint[]> {
    const { system, blueprints } = await this.#open();
    return blueprints.list().map((listed) => addWarnings(system, listed));
  }

  async get(name: string): Promise<ListedBlueprint> {
    const { system, blueprints } = await this.#open();
    return addWarnings(system, blueprints.get(name));
  }

  async put(blueprint: Blueprint): Promise<ListedBlueprint> {
    const { env, system, blueprints, onChange } = await this.#open();
    checkNewBlueprint(env, system, blueprint);
    const stored = blueprints.put(blueprint);
    onChange();
    return addWarnings(system, stored);
  }

  async delete(name: string): Promise<void> {
    const { blueprints, onChange } = await this.#open();
    blueprints.delete(name);
    onChange();
  }
}

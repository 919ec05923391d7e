import { type Blueprint, type ListedBlueprint, listSubagentTypes } from "@thinkery/sdk";
import type { ModelEnv } from "../model/providers.ts";
import { checkModel, openSystemModels } from "./models.ts";
import { checkBlueprint, findWarnings, type System } from "./system.ts";

/** Throws if a blueprint that somebody posted is not valid: its rules, its driver, its config, or a model. */
export function checkNewBlueprint(env: ModelEnv, system: System, blueprint: Blueprint): void {
  checkBlueprint(system, blueprint);
  const models = openSystemModels(env, system);
  const check = (ids: Record<string, string | undefined>, path: string[] = []) => {
    for (const [key, id] of Object.entries(ids)) {
      if (id) checkModel(models, id, [...path, key]);
    }
  };
  check({ model: blueprint.model });
  check(blueprint.models ?? {}, ["models"]);
  for (const type of listSubagentTypes(blueprint) ?? []) {
    if (typeof type !== "string") check({ model: type.model, ...type.models }, ["config", "subagents"]);
  }
}

/** Static blueprints were checked when the Worker was built. */
export function addWarnings(system: System, listed: ListedBlueprint): ListedBlueprint {
  const warnings = listed.source === "dynamic" ? findWarnings(system, listed) : [];
  return warnings.length > 0 ? { ...listed, warnings } : listed;
}

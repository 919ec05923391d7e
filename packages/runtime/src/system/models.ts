import { fail, isThinkeryError } from "@thinkery/sdk";
import { type Models, openModels } from "../model/catalogue.ts";
import type { ModelEnv } from "../model/providers.ts";
import type { System } from "./system.ts";

/** The catalogue, with the models of the system's own provider in it. */
export function openSystemModels(env: ModelEnv, { provider }: System): Models {
  const models = openModels(env);
  if (!provider) return models;
  const stripProvider = (id: string) =>
    id.startsWith(`${provider.name}:`) ? id.slice(provider.name.length + 1) : undefined;
  return {
    ...models,
    check(id) {
      if (stripProvider(id) === undefined) models.check(id);
    },
    async resolve(id) {
      const name = stripProvider(id);
      return name === undefined ? models.resolve(id) : provider.open(name);
    },
    computeCost: (id, usage) =>
      (stripProvider(id) === undefined ? undefined : provider.costOf?.(id, usage)) ?? models.computeCost(id, usage),
  };
}

/** Refuses a model there cannot be, by the path it was given at. */
export function checkModel(models: Models, id: string, path: string[]): void {
  try {
    models.check(id);
  } catch (error) {
    if (!isThinkeryError(error)) throw error;
    throw fail(error.code, error.message, { ...error.details, problems: [{ path, message: error.message }] });
  }
}

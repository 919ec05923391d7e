import { fail, isThinkeryError } from "@thinkery/sdk";
import { type Models, openModels } from "../model/catalogue.ts";
import type { ModelEnv } from "../model/providers.ts";
import type { System } from "./system.ts";

/** The catalogue, with the models of the system's own provider in it. */
export function systemModels(env: ModelEnv, { provider }: System): Models {
  const models = openModels(env);
  if (!provider) return models;
  const own = (id: string) => (id.startsWith(`${provider.name}:`) ? id.slice(provider.name.length + 1) : undefined);
  return {
    ...models,
    check(id) {
      if (own(id) === undefined) models.check(id);
    },
    async resolve(id) {
      const name = own(id);
      return name === undefined ? models.resolve(id) : provider.open(name);
    },
    costOf: (id, usage) => (own(id) === undefined ? undefined : provider.costOf?.(id, usage)) ?? models.costOf(id, usage),
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

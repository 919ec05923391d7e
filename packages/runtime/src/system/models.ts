import { fail, isThinkeryError } from "@thinkery/sdk";
import { type Models, openModels } from "../model/catalogue.ts";
import type { ModelEnv } from "../model/providers.ts";
import type { System } from "./system.ts";

/** Opens the model catalogue, extended with the system's own provider. */
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
      (stripProvider(id) === undefined ? undefined : provider.getCost?.(id, usage)) ?? models.computeCost(id, usage),
  };
}

/** Throws with the path if a model id is not valid. */
export function checkModel(models: Models, id: string, path: string[]): void {
  try {
    models.check(id);
  } catch (error) {
    if (!isThinkeryError(error)) throw error;
    throw fail(error.code, error.message, { ...error.details, issues: [{ path, message: error.message }] });
  }
}

/** A custom price function may return nonsense, which counts as unknown. */
export function toValidCost(usd: number | undefined): number | undefined {
  return usd !== undefined && usd >= 0 && usd < Infinity ? usd : undefined;
}

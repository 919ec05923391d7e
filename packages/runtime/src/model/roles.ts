import { fail, isThinkeryError, type ModelRole, type ModelRoles } from "@thinkery/sdk";
import type { Models } from "./catalogue.ts";
import type { Model } from "./model.ts";

/** Which model fills which role of one agent's turn. */
export interface Roles {
  getPrimary(): Promise<Model>;
  getModel(role: ModelRole): Promise<Model>;
  /** Its id alone, without opening it. */
  getModelId(role: ModelRole): Promise<string>;
}

/**
 * Takes the first layer that says something of a role, the strongest coming first, and under them all the host's
 * configuration. Nobody says anything: the catalogue finds a primary model, and the others follow from that.
 */
export function openRoles(models: Models, layers: readonly Partial<ModelRoles>[]): Roles {
  const all = [...layers, models.configured];
  const findChosen = (role: ModelRole) => all.find((layer) => layer[role])?.[role];
  const filled = new Map<ModelRole, Model>();

  async function getModelId(role: ModelRole): Promise<string> {
    const said = findChosen(role);
    if (said) return said;
    if (role === "primary") return (await models.getDefaultModel()).id;
    if (role === "summarizer") return getModelId("fast");
    const primary = (await getModel("primary")).id;
    return role === "fast" ? (models.findSmallModel(primary) ?? primary) : primary;
  }

  async function getModel(role: ModelRole): Promise<Model> {
    const before = filled.get(role);
    if (before) return before;
    const id = await getModelId(role);
    // The same script twice would be two models.
    const same = [...filled.values()].find((model) => model.id === id);
    const model = same ?? (await openForRole(role, id));
    filled.set(role, model);
    return model;
  }

  async function openForRole(role: ModelRole, id: string): Promise<Model> {
    try {
      return await models.resolve(id);
    } catch (error) {
      throw addRoleToError(role, error);
    }
  }

  return { getModel, getModelId, getPrimary: () => getModel("primary") };
}

/** Whoever reads it did not necessarily choose the model, and wants to know where to look. */
function addRoleToError(role: ModelRole, error: unknown): unknown {
  if (role === "primary" || !isThinkeryError(error)) return error;
  return fail(error.code, `The model for the role “${role}” cannot be used. ${error.message}`, error.details);
}

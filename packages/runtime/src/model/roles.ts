import {
  fail,
  isThinkeryError,
  type ModelRole,
  type ModelRoles,
  type ReasoningEffort,
  type RoleEfforts,
} from "@thinkery/sdk";
import type { Models } from "./catalogue.ts";
import type { Model } from "./model.ts";

/** The models for the roles of one agent's turn. */
export interface Roles {
  getPrimary(): Promise<Model>;
  getModel(role: ModelRole): Promise<Model>;
  /** Returns the model's id without opening it. */
  getModelId(role: ModelRole): Promise<string>;
  /** Returns how much a role's model thinks, unless a request says otherwise; undefined if the provider decides. */
  getEffort(role: ModelRole): ReasoningEffort | undefined;
}

export interface RoleLayer extends Partial<ModelRoles> {
  reasoning?: RoleEfforts | undefined;
}

/**
 * Each role takes the first layer that sets it (strongest first), then the host's configuration. If no layer sets it,
 * the catalogue picks a primary model and the other roles follow from that.
 */
export function openRoles(models: Models, layers: readonly RoleLayer[]): Roles {
  const all: readonly RoleLayer[] = [...layers, models.configured];
  const findConfigured = (role: ModelRole) => all.find((layer) => layer[role])?.[role];
  const getEffort = (role: ModelRole) => all.find(({ reasoning }) => reasoning?.[role])?.reasoning?.[role];
  const resolved = new Map<string, Model>();
  const opened = new Map<ModelRole, Model>();

  async function getModelId(role: ModelRole): Promise<string> {
    const configured = findConfigured(role);
    if (configured) return configured;
    if (role === "primary") return (await models.getDefaultModel()).id;
    if (role === "summarizer") return getModelId("fast");
    const primary = (await getModel("primary")).id;
    return role === "fast" ? (models.findSmallModel(primary) ?? primary) : primary;
  }

  async function getModel(role: ModelRole): Promise<Model> {
    const existing = opened.get(role);
    if (existing) return existing;
    const id = await getModelId(role);
    // Resolving a script twice would create two models.
    const base = resolved.get(id) ?? (await openForRole(role, id));
    resolved.set(id, base);
    const effort = getEffort(role);
    const model = effort ? withEffort(base, effort) : base;
    opened.set(role, model);
    return model;
  }

  async function openForRole(role: ModelRole, id: string): Promise<Model> {
    try {
      return await models.resolve(id);
    } catch (error) {
      throw addRoleToError(role, error);
    }
  }

  return { getModel, getModelId, getEffort, getPrimary: () => getModel("primary") };
}

/** The same model, thinking this much in requests that do not say how much. */
function withEffort(model: Model, reasoningEffort: ReasoningEffort): Model {
  return {
    id: model.id,
    stream(request, signal) {
      const { settings } = request;
      if (settings?.reasoningEffort !== undefined || settings?.thinkingBudget !== undefined)
        return model.stream(request, signal);
      return model.stream({ ...request, settings: { ...settings, reasoningEffort } }, signal);
    },
  };
}

/** Names the role, because the reader may not have chosen this model and needs to know where to look. */
function addRoleToError(role: ModelRole, error: unknown): unknown {
  if (role === "primary" || !isThinkeryError(error)) return error;
  return fail(error.code, `Cannot use the model for the role “${role}”: ${error.message}`, error.details);
}

import type { NewAgent } from "@thinkery/sdk";
import type { ModelEnv } from "../model/providers.ts";
import { checkDriver } from "./drivers.ts";
import { checkModel, openSystemModels } from "./models.ts";
import type { System } from "./system.ts";

/** Throws with the path if a new agent names an unknown model or driver. Called before anything is created. */
export function checkNewAgent(env: ModelEnv, system: System, { model, driver, backend, props }: NewAgent): void {
  const models = openSystemModels(env, system);
  if (model) checkModel(models, model, ["model"]);
  for (const [role, id] of Object.entries(props?.models ?? {})) checkModel(models, id, ["props", "models", role]);
  checkDriver(system.drivers, driver ?? backend, [driver === undefined ? "backend" : "driver"]);
}

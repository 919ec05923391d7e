import type { Blueprint, ModelRole, PlanSettings, Props, ThreadInfo, TurnLimits } from "@thinkery/sdk";
import type { Pipeline } from "../middleware/pipeline.ts";
import type { Model, Usage } from "../model/model.ts";
import type { Toolbox } from "../tools/toolbox.ts";

/** What a turn is computed with. Prepared before it starts, the same for all its steps. */
export interface Equipment {
  /** The primary one. */
  model: Model;
  modelOf(role: ModelRole): Promise<Model>;
  system: string;
  /** This turn's own: middleware may add to it. */
  tools: Toolbox;
  pipeline: Pipeline;
  props: Props;
  settings: PlanSettings;
  info(): ThreadInfo;
  config: Blueprint["config"];
  limits: TurnLimits;
  development: boolean;
  costOf(model: string, usage: Usage): number | undefined;
}

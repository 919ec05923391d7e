import { AgentSystem } from "@thinkery/runtime";
import type { ModelRoles, RoleEfforts } from "@thinkery/sdk";
import { modelTools } from "./model-tools.ts";

const system = modelTools
  .reduce((builder, tool) => builder.addTool(tool), new AgentSystem({ defaultModel: "box:system" }).defaults())
  .export();

export const { Agency, User, Supervision } = system;
export default system.handler;

/** A product whose class sets models for some of its agents. */
export class Think extends system.Think {
  protected override getModelConfig(): Partial<ModelRoles> {
    return this.name.includes("~classy")
      ? { primary: "box:class", fast: "box:class-fast", summarizer: "box:class-short", vision: "box:class-eyes" }
      : {};
  }

  protected override getReasoningConfig(): RoleEfforts {
    return this.name.includes("~classy") ? { primary: "low", fast: "low", summarizer: "low" } : {};
  }
}

/** `@thinkery/runtime`: the public API for custom Workers. */
export { type AgentBlueprint, AgentSystem, type AgentSystemOptions, type WorkerExports } from "./agent-system.ts";
export { Agency, default, handler, Supervision, Think, User } from "./main.ts";
export type {
  Conversation,
  TurnContext,
  Driver,
  DriverDefinition,
  ModelCallEnd,
  StepOptions,
  TurnModels,
} from "./drivers/driver.ts";
export { planning } from "./middleware/planning.ts";
export type { FinishReason, Model, ModelMessage, ModelPart, ModelRequest, Usage } from "./model/model.ts";
export { ModelError, type ModelErrorKind } from "./model/error.ts";
export type { Env } from "./objects/env.ts";
export type { ModelProvider, ToolSourceContext, ToolSourceFactory } from "./system/system.ts";
export { MutableToolSource, type ToolSource } from "./tools/tool-source.ts";

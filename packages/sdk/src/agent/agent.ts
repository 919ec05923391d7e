/** For the code of agents: runs in a sandbox, and needs nothing from Node. */
export { type AgentWorker, defineAgent } from "./define-agent.ts";
export type {
  AgentContext,
  AgentDefinition,
  AgentStorage,
  Ai,
  Attachment,
  Channel,
  ConversationMessage,
  GenerateOptions,
  IncomingMessage,
  LifecycleContext,
  LocalTool,
  Log,
  ModelMessage,
  ReplyStream,
  StreamEvent,
  ToolContext,
  ToolList,
  ToolProvider,
  UserPart,
} from "./definition.ts";
export type { Bash, FileSystem } from "./file-system.ts";
export { formatConversation, toModelMessages } from "./model-messages.ts";
export { ToolCallError } from "./tool-list.ts";
export type { AgentEvent, AgentState, JsonValue, ModelUsage, Sender, WireTool } from "./wire.ts";
export { type SettingsSchema, type SettingValues, standardSettings } from "../protocol/setting-values.ts";

import { fillSettings } from "@thinkery/sdk";
import type { JsonValue, LifecyclePayload } from "@thinkery/sdk/agent-host";
import type { ToolDefinition } from "../../model/model.ts";
import type { CodeVersion } from "./code-version.ts";
import type { UserCode } from "./user-code.ts";

/** Creates what every request of an agent's code begins with. */
export function createBasePayload(
  { agent, store: { record } }: UserCode,
  { capabilities, settings }: CodeVersion,
  tools: readonly ToolDefinition[],
): LifecyclePayload {
  return {
    agent,
    settings: fillSettings(settings, record.settings),
    state: record.state,
    tools: capabilities.includes("tools")
      ? tools.map(({ name, description, parameters }) => ({
          name,
          description,
          parameters: parameters as Record<string, JsonValue>,
        }))
      : [],
    capabilities,
  };
}

import { defineTool, type Tool, ToolError, toolNameRule } from "@thinkery/sdk";
import type { CodeDescription } from "../sandbox/agent-description.ts";
import type { Toolbox } from "./toolbox.ts";
import { parseUntrustedSchema } from "./untrusted-schema.ts";

/** An agent with the tools that its code provides. */
export interface ToolProvider {
  agent: string;
  tools: CodeDescription["tools"];
}

/** Calls a tool of an agent, with JSON. `callers` are the agents that wait for the result, outermost first. */
export type CallAgentTool = (
  agent: string,
  tool: string,
  json: string,
  callers: string[],
) => Promise<string | undefined>;

/** Agents that call each other's tools may wait for each other this deep. */
const maxCallers = 8;
const timeoutSeconds = 600;
const heartbeatMs = 1000;

/** Adds the tools that other agents provide; those whose names are taken are left out. */
export function attachProvidedTools(
  toolbox: Toolbox,
  providers: readonly ToolProvider[],
  callers: readonly string[],
  call: CallAgentTool,
): void {
  for (const provider of providers) {
    const list = () => createProvidedTools(provider, callers, call);
    const { agent } = provider;
    void toolbox.attach({ name: `the agent “${agent}”`, label: `agent ${agent}`, optional: true, list });
  }
}

/** Returns the name under which other agents know a tool of an agent. */
export const formatProvidedName = (agent: string, tool: string) => `${agent.replaceAll(".", "_")}__${tool}`;

/** Creates the tools of an agent as the other agents of its agency see them: `<agent>__<tool>`. */
function createProvidedTools({ agent, tools }: ToolProvider, callers: readonly string[], call: CallAgentTool): Tool[] {
  return tools.flatMap(({ name, description, parameters }) => {
    const fullName = formatProvidedName(agent, name);
    if (!toolNameRule.pattern.test(fullName)) return [];
    const tool = defineTool(
      {
        name: fullName,
        description,
        inputSchema: parseUntrustedSchema(parameters),
        timeoutSeconds,
        action: "agent",
      },
      async (input, { reportProgress }) => {
        if (callers.length > maxCallers)
          throw new ToolError(
            "denied",
            `Agents wait for each other: ${[...callers, agent].join(" → ")}. Stopped here.`,
          );
        // A long call is no stalled turn.
        const heartbeat = setInterval(() => reportProgress(""), heartbeatMs);
        try {
          const json = await call(agent, name, JSON.stringify(input), [...callers]);
          return json === undefined ? undefined : (JSON.parse(json) as unknown);
        } finally {
          clearInterval(heartbeat);
        }
      },
    );
    return [{ ...tool, parameters }];
  });
}

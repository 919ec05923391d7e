import type { AgencyToolDefinition, CodeTool, MockTool, Tool, WebhookTool } from "@thinkery/sdk";
import type { Outbound } from "../host/outbound.ts";
import { createCodeTool } from "./code-tool.ts";
import { createMockTool } from "./mock-tool.ts";
import { createStaticSource } from "./tool-source.ts";
import type { Toolbox } from "./toolbox.ts";
import { createWebhookTool } from "./webhook.ts";

/** What an agency gives to one of its agents. */
export interface AgencyToolSet {
  tools: readonly Tool[];
  mocks: readonly MockTool[];
}

export const isMock = (definition: AgencyToolDefinition): definition is MockTool => "mock" in definition;

/** Creates a tool that is defined by data. Throws if its schema cannot be used. */
export function createDefinedTool(definition: WebhookTool | CodeTool, send: Outbound): Tool {
  return "code" in definition ? createCodeTool(definition) : createWebhookTool(definition, send);
}

/** Creates the tools that an agency gives to an agent. Those that cannot be created are left out. */
export function createAgencyTools(definitions: readonly AgencyToolDefinition[], send: Outbound): AgencyToolSet {
  const tools = definitions.flatMap((definition) => {
    if (isMock(definition)) return [];
    try {
      return [createDefinedTool(definition, send)];
    } catch (error) {
      console.error(`the tool ${definition.name} of an agency could not be created`, error);
      return [];
    }
  });
  return { tools, mocks: definitions.filter(isMock) };
}

/** Adds the tools of an agency; those whose names are taken are left out. */
export function attachAgencyTools(toolbox: Toolbox, { tools }: AgencyToolSet): void {
  if (tools.length > 0)
    void toolbox.attach({ ...createStaticSource("the agency", tools), optional: true, label: "agency" });
}

/** Puts the mocks of an agency in the place of other tools, wherever those come from. */
export function attachMocks(toolbox: Toolbox, { mocks }: AgencyToolSet): void {
  for (const mock of mocks) toolbox.replace(mock.name, (replaced) => createMockTool(mock, replaced));
}

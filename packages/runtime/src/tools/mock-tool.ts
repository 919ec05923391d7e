import { defineTool, type MockTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";
import { parseUntrustedSchema } from "./untrusted-schema.ts";

/**
 * Creates a tool that always returns the same. It takes the place of another if there is one with its name: unless it
 * has parameters of its own, it accepts the same inputs, and rules apply to it as to that tool.
 */
export function createMockTool({ name, description, parameters, mock }: MockTool, replaced: Tool | undefined): Tool {
  const tool = defineTool<unknown>(
    {
      name,
      description: description ?? replaced?.description ?? "A mock.",
      inputSchema: parameters ? parseUntrustedSchema(parameters) : (replaced?.inputSchema ?? z.looseObject({})),
      action: "mock",
      idempotent: true,
      parallel: true,
      ...(replaced ? pickAppearance(replaced) : {}),
      ...(replaced && !parameters ? pickRules(replaced) : {}),
    },
    () => mock,
  );
  const shown = parameters ?? replaced?.parameters;
  return shown ? { ...tool, parameters: shown } : tool;
}

function pickAppearance({ aliases, onDemand, polls, modelOnly }: Tool) {
  return {
    ...(aliases ? { aliases } : {}),
    ...(onDemand === undefined ? {} : { onDemand }),
    ...(polls === undefined ? {} : { polls }),
    ...(modelOnly === undefined ? {} : { modelOnly }),
  };
}

/** These functions expect inputs that the replaced tool accepts. */
function pickRules(tool: Tool) {
  return {
    ...(tool.defaultPolicy ? { defaultPolicy: tool.defaultPolicy } : {}),
    ...(tool.matchesRule ? { matchesRule: tool.matchesRule.bind(tool) } : {}),
    ...(tool.ruleFor ? { ruleFor: tool.ruleFor.bind(tool) } : {}),
    ...(tool.redactInput ? { redactInput: tool.redactInput.bind(tool) } : {}),
  };
}

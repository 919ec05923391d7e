import { type CodeTool, defineTool, type Tool } from "@thinkery/sdk";
import { executeCode } from "./execute-code.ts";
import { stripPatterns } from "./strip-patterns.ts";

/** A tool that is code: each call runs it in a sandbox with the call's input, and what it returns is the result. */
export function createCodeTool({ name, description, parameters, code, modules = {} }: CodeTool): Tool {
  const tool = defineTool<unknown>(
    // The sandbox's own limits come first, as they do there.
    {
      name,
      description,
      inputSchema: stripPatterns(parameters),
      action: "run",
      modelOnly: true,
      ...(executeCode.timeoutSeconds ? { timeoutSeconds: executeCode.timeoutSeconds } : {}),
    },
    async (input, { sandbox }) => {
      const { value } = await sandbox.run({ code, modules, input });
      return value === undefined ? undefined : parseResult(value);
    },
  );
  return { ...tool, parameters };
}

/** Data where the text is the JSON of some; a text that only looks like it would not be the same again. */
function parseResult(value: string): unknown {
  try {
    const data: unknown = JSON.parse(value);
    // Nothing at all would mean that the answer comes later.
    return data !== null && JSON.stringify(data) === value ? data : value;
  } catch {
    return value;
  }
}

import { type CodeTool, defineTool, type Tool } from "@thinkery/sdk";
import { executeCode } from "./execute-code.ts";
import { parseUntrustedSchema } from "./untrusted-schema.ts";

/** Creates a tool from code: each call runs it in a sandbox with the call's input and returns its return value. */
export function createCodeTool({ name, description, parameters, code, modules = {} }: CodeTool): Tool {
  const tool = defineTool<unknown>(
    {
      name,
      description,
      inputSchema: parseUntrustedSchema(parameters),
      action: "run",
      modelOnly: true,
      // The sandbox's own limits apply first, as in executeCode.
      ...(executeCode.timeoutSeconds ? { timeoutSeconds: executeCode.timeoutSeconds } : {}),
    },
    async (input, { sandbox }) => {
      const { value } = await sandbox.run({ code, modules, input });
      return value === undefined ? undefined : parseResult(value);
    },
  );
  return { ...tool, parameters };
}

/** Parses JSON, unless serializing it again would yield a different text. */
function parseResult(value: string): unknown {
  try {
    const data: unknown = JSON.parse(value);
    // `null` would mean that there is no output.
    return data !== null && JSON.stringify(data) === value ? data : value;
  } catch {
    return value;
  }
}

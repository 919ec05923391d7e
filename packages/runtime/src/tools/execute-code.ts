import { type CodeResult, defineTool } from "@thinkery/sdk";
import { z } from "zod";
import { truncate } from "./output.ts";

/** Runs code written by the model in a sandbox. */
export const executeCode = defineTool(
  {
    name: "executeCode",
    description:
      "Run JavaScript or TypeScript in a sandbox: the body of an async function; `return` gives the result, console output is captured. Web APIs only, no Node modules; `await tools.NAME(input)` calls your other tools; `fs.readFile(path)`, `fs.writeFile(path, data)`, `fs.list()`, `bash(command)` work on the workspace, and its modules can be imported; `fetch` reaches only what the policy allows.",
    inputSchema: z.strictObject({
      code: z
        .string()
        .min(1)
        .max(1024 * 1024),
      modules: z
        .record(z.string().min(1).max(200), z.string())
        .optional()
        .meta({ description: "importable modules by name" }),
      timeoutMs: z.int().min(1).max(3_600_000).optional(),
    }),
    action: "run",
    // The sandbox's own limits on waiting and running apply first.
    timeoutSeconds: 7300,
    modelOnly: true,
    preview: ({ code }) => ({ kind: "code", code }),
    summarize: (output) => (typeof output === "string" ? truncate(output, 200) : "ran"),
  },
  async (code, { sandbox }) => formatCodeResult(await sandbox.run(code)),
);

function formatCodeResult({ value, console }: CodeResult): string {
  const result = value ?? (console ? "" : "The code returned nothing. Use `return` to return a result.");
  return [result, console && `console:\n${console}`].filter(Boolean).join("\n\n");
}

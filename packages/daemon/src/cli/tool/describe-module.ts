/** What a module exports of one tool. Nothing of it was checked. */
export interface DescribedTool {
  exportName: string;
  /** Whether the export is the function itself. */
  isFunction: boolean;
  name?: string;
  description?: unknown;
  /** The JSON schema of its input. */
  schema?: unknown;
  /** There is a schema, but no way to convert it to JSON schema. */
  isOpaque?: boolean;
}

/**
 * The source of a thread that loads a module, finds its tools and posts them: a default function with what the module
 * says about it, and objects with an `execute`. As text, because the thread has nothing of this program.
 */
export const describeModuleSource = `
import { parentPort, workerData } from "node:worker_threads";

function convertSchema(schema) {
  const standard = schema?.["~standard"];
  if (!standard) return { schema: schema === undefined ? undefined : JSON.parse(JSON.stringify(schema)) };
  if (!standard.jsonSchema) return { isOpaque: true };
  return { schema: standard.jsonSchema.input({ target: "draft-2020-12" }) };
}

const describeTool = (exportName, isFunction, { name, description, parameters, inputSchema }) => ({
  exportName,
  isFunction,
  ...(typeof name === "string" ? { name } : {}),
  ...(typeof description === "string" ? { description } : {}),
  ...convertSchema(parameters ?? inputSchema),
});

const module = await import(workerData);
const tools = Object.entries(module).flatMap(([name, value]) => {
  if (name === "default" && typeof value === "function") return [describeTool(name, true, module)];
  return typeof value?.execute === "function" ? [describeTool(name, false, value)] : [];
});
parentPort.postMessage(JSON.parse(JSON.stringify(tools)));
`;

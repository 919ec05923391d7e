import { basename, extname } from "node:path";
import { Worker } from "node:worker_threads";
import { type CodeTool, fail, findNameIssue, toolNameRule } from "@thinkery/sdk";
import type { Cli } from "../cli.ts";
import { bundleModule } from "./bundle-module.ts";
import { type DescribedTool, describeModuleSource } from "./describe-module.ts";

const timeoutMs = 10_000;
/** The bundle's name in the sandbox. */
const moduleName = "module.js";

/** Bundles a module and returns its tools, with the code that calls each. */
export async function readModuleTools(cli: Cli, file: string): Promise<CodeTool[]> {
  const bundle = await bundleModule(cli, file);
  const described = await loadModule(file, bundle);
  const tools = described.map((tool) => toCodeTool(file, tool, bundle));
  const duplicate = tools.find(({ name }, index) => tools.findIndex((other) => other.name === name) < index);
  if (duplicate) throw fail("bad_request", `${file} has two tools named ${duplicate.name}.`);
  if (tools.length > 0) return tools;
  throw fail(
    "bad_request",
    `${file} has no tool. Export a description, parameters (a JSON schema) and a default function, or objects { description, parameters, execute }.`,
  );
}

function toCodeTool(file: string, tool: DescribedTool, bundle: string): CodeTool {
  const { exportName, isFunction, description } = tool;
  const name = tool.name ?? (exportName === "default" ? toToolName(file) : exportName);
  const subject = exportName === "default" ? file : `${file}, ${exportName}`;
  const issue = findNameIssue(toolNameRule, name);
  if (issue) throw fail("bad_request", `${subject}: invalid tool name “${name}”: ${issue}.`);
  if (typeof description !== "string" || description.trim() === "")
    throw fail("bad_request", `${subject}: the tool has no description. The model chooses tools by it.`);
  return {
    name,
    description,
    parameters: toParameters(subject, tool),
    code: toCode(exportName, isFunction),
    modules: { [moduleName]: bundle },
  };
}

function toParameters(subject: string, { schema, isOpaque }: DescribedTool): CodeTool["parameters"] {
  if (isOpaque)
    throw fail(
      "bad_request",
      `${subject}: its schema cannot be converted to JSON schema. Export a JSON schema; zod has z.toJSONSchema(schema).`,
    );
  if (schema === undefined) return { type: "object", properties: {}, additionalProperties: false };
  if (typeof schema === "object" && schema !== null && (schema as { type?: unknown }).type === "object")
    return schema as CodeTool["parameters"];
  throw fail("bad_request", `${subject}: parameters must be the JSON schema of an object: { type: "object", … }.`);
}

function toCode(exportName: string, isFunction: boolean): string {
  return `import { ${exportName} as tool } from "./${moduleName}";\nreturn await ${isFunction ? "tool" : "tool.execute"}(input);\n`;
}

/** Makes a name of a file: `get-weather.ts` becomes `get_weather`. */
export function toToolName(file: string): string {
  return basename(file, extname(file))
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
}

/**
 * Loads a bundle on this machine to read what it exports. In a thread without our environment, whose output is not ours,
 * and which is ended if it does not finish.
 */
function loadModule(file: string, bundle: string): Promise<DescribedTool[]> {
  const toUrl = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const worker = new Worker(toUrl(describeModuleSource), {
    workerData: toUrl(bundle).href,
    env: {},
    stdout: true,
    stderr: true,
  });
  return new Promise<DescribedTool[]>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(fail("bad_request", `${file} does not finish loading. Leave waiting to its functions.`)),
      timeoutMs,
    );
    worker.once("message", resolve);
    worker.once("error", (error: unknown) => {
      const { name = "Error", message = String(error) } = error as Partial<Error>;
      reject(fail("bad_request", `${file} fails when it is loaded: ${name}: ${message}`));
    });
    worker.once("exit", () => {
      clearTimeout(timer);
      reject(fail("bad_request", `${file} ends the process when it is loaded.`));
    });
  }).finally(() => worker.terminate());
}

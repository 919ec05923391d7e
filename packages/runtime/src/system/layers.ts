import { budgetKinds, fail, type Limits, type ModelRoles, type Props, type Tool } from "@thinkery/sdk";
import type { Outbound } from "../host/outbound.ts";
import { createCodeTool } from "../tools/code-tool.ts";
import { createStaticSource } from "../tools/tool-source.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import { createWebhookTool } from "../tools/webhook.ts";
import type { System } from "./system.ts";

/** The middle layer: what a subclass of Think adds. */
export interface ClassLayer {
  instructions(): string;
  tools(): readonly Tool[];
  models(): Partial<ModelRoles>;
}

/** The agent's own props under those of a request, which say the last word where only one can be said. */
export function mergeProps(own: Props = {}, request: Props = {}): Props {
  const models = { ...own.models, ...request.models };
  const tools = [...(own.tools ?? []), ...(request.tools ?? [])];
  const settings = { ...own.settings, ...request.settings };
  const budget = mergeLimits(own.budget, request.budget);
  const data = { ...own.data, ...request.data };
  const instructions = [own.additionalInstructions, request.additionalInstructions].filter(Boolean).join("\n\n");
  return {
    ...(instructions ? { additionalInstructions: instructions } : {}),
    ...(Object.keys(models).length > 0 ? { models } : {}),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
    ...(budget ? { budget } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    ...(Object.keys(data).length > 0 ? { data } : {}),
  };
}

/** The lower limit of each kind: whoever comes later may save, not spend more. */
export function mergeLimits<L extends Limits>(one: L | undefined, other: Limits | undefined): L | Limits | undefined {
  if (!one || !other) return one ?? other;
  const limits: L = { ...one };
  for (const kind of budgetKinds) {
    const limit = Math.min(one[kind] ?? Infinity, other[kind] ?? Infinity);
    if (limit < Infinity) limits[kind] = limit;
  }
  return limits;
}

/** Attaches the tools that props name or describe. What cannot be added is refused by its path. */
export function attachPropsTools(toolbox: Toolbox, system: System, { tools = [] }: Props, send: Outbound): void {
  for (const [index, given] of tools.entries()) {
    try {
      const tool =
        typeof given === "string"
          ? findRegisteredTool(toolbox, system, given)
          : "code" in given
            ? createCodeTool(given)
            : createWebhookTool(given, send);
      if (tool) void toolbox.attach(createStaticSource("the props", [tool]));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const path = ["props", "tools", index];
      throw fail("bad_request", `${path.join(".")}: ${message}`, { problems: [{ path, message }] });
    }
  }
}

/** One that the agent has already is not added again. */
function findRegisteredTool(toolbox: Toolbox, { tools }: System, name: string): Tool | undefined {
  if (toolbox.find(name)) return undefined;
  const found = tools.find(({ value }) => value.name === name)?.value;
  if (found) return found;
  const names = tools.map(({ value }) => value.name);
  throw new Error(
    `There is no registered tool “${name}”. ${names.length > 0 ? `There are: ${names.join(", ")}.` : "None is registered here."}`,
  );
}

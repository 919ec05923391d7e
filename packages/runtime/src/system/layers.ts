import {
  budgetKinds,
  fail,
  type Limits,
  type ModelRoles,
  type Props,
  type RoleEfforts,
  type Tool,
} from "@thinkery/sdk";
import type { Outbound } from "../host/outbound.ts";
import { createDefinedTool } from "../tools/agency-tools.ts";
import { createStaticSource } from "../tools/tool-source.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import type { System } from "./system.ts";

/** The middle layer: what a subclass of Think adds. */
export interface ClassLayer {
  instructions(): string;
  tools(): readonly Tool[];
  models(): Partial<ModelRoles>;
  reasoning(): RoleEfforts;
}

/** Merges an agent's props with those of a request, which win where only one value is possible. */
export function mergeProps(own: Props = {}, request: Props = {}): Props {
  const models = { ...own.models, ...request.models };
  const reasoning = { ...own.reasoning, ...request.reasoning };
  const tools = [...(own.tools ?? []), ...(request.tools ?? [])];
  const settings = { ...own.settings, ...request.settings };
  const budget = mergeLimits(own.budget, request.budget);
  const data = { ...own.data, ...request.data };
  const instructions = [own.additionalInstructions, request.additionalInstructions].filter(Boolean).join("\n\n");
  return {
    ...(instructions ? { additionalInstructions: instructions } : {}),
    ...(Object.keys(models).length > 0 ? { models } : {}),
    ...(Object.keys(reasoning).length > 0 ? { reasoning } : {}),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
    ...(budget ? { budget } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    ...(Object.keys(data).length > 0 ? { data } : {}),
  };
}

/** Takes the lower limit of each kind: a later layer can lower a limit, not raise it. */
export function mergeLimits<L extends Limits>(one: L | undefined, other: Limits | undefined): L | Limits | undefined {
  if (!one || !other) return one ?? other;
  const limits: L = { ...one };
  for (const kind of budgetKinds) {
    const limit = Math.min(one[kind] ?? Infinity, other[kind] ?? Infinity);
    if (limit < Infinity) limits[kind] = limit;
  }
  return limits;
}

/** Attaches the tools that props name or define. Throws with the path if one cannot be added. */
export function attachPropsTools(toolbox: Toolbox, system: System, { tools = [] }: Props, send: Outbound): void {
  for (const [index, entry] of tools.entries()) {
    try {
      const tool =
        typeof entry === "string" ? findRegisteredTool(toolbox, system, entry) : createDefinedTool(entry, send);
      if (tool) void toolbox.attach(createStaticSource("the props", [tool], "props"));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const path = ["props", "tools", index];
      throw fail("bad_request", `${path.join(".")}: ${message}`, { issues: [{ path, message }] });
    }
  }
}

/** Returns undefined if the agent already has the tool. */
function findRegisteredTool(toolbox: Toolbox, { tools }: System, name: string): Tool | undefined {
  if (toolbox.find(name)) return undefined;
  const found = tools.find(({ value }) => value.name === name)?.value;
  if (found) return found;
  const names = tools.map(({ value }) => value.name);
  throw new Error(
    `There is no registered tool “${name}”. ${names.length > 0 ? `Available: ${names.join(", ")}.` : "No tools are registered."}`,
  );
}

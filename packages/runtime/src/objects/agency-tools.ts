import {
  type AgencyTool,
  type AgencyToolDefinition,
  type AgencyToolQuery,
  type AgentTool,
  fail,
  type NewAgencyTool,
} from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import { AgencyToolTable } from "../agency/agency-tool-table.ts";
import { collectTools, type System } from "../system/system.ts";
import { createDefinedTool, isMock } from "../tools/agency-tools.ts";
import { formatProvidedName, type ToolProvider } from "../tools/provided-tools.ts";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";

interface AgencyToolsOptions extends AgencyContext {
  system: System;
  listProviders(): readonly ToolProvider[];
}

/** Agents that are asked for the tools they have: one of each blueprint. */
const maxAskedAgents = 20;

/** The tools that were given to the agents of an agency. */
export class AgencyTools implements AgencyFeature {
  readonly api: AgencyToolsApi;
  readonly #table: AgencyToolTable;
  readonly #options: AgencyToolsOptions;

  constructor(options: AgencyToolsOptions) {
    this.#options = options;
    this.#table = new AgencyToolTable(options.storage.sql);
    this.api = new AgencyToolsApi(async () => {
      await options.open();
      return this;
    });
  }

  list(): AgencyTool[] {
    return this.#options.redactor.redactValue(this.#table.list());
  }

  /** Returns what an agent has of them. */
  listOf(agent: string): AgencyToolDefinition[] {
    return this.#table.listOf(agent);
  }

  async put(input: NewAgencyTool, by: string): Promise<AgencyTool> {
    const { redactor, agents } = this.#options;
    const { tool, agent } = input;
    const checked = agent === undefined ? { tool } : { tool, agent: agents.get(agent).name };
    checkSchema(tool);
    this.#table.checkName(checked);
    if (!isMock(tool)) await this.#checkUnused(tool.name, checked.agent);
    const stored = this.#table.put(checked, by);
    this.#noteChange();
    return redactor.redactValue(stored);
  }

  delete(name: string, query: AgencyToolQuery): void {
    this.#table.delete(name, query);
    this.#noteChange();
  }

  forgetAgent(name: string): void {
    if (this.#table.forgetAgent(name)) this.#noteChange();
  }

  #noteChange(): void {
    const { onAgentsChange, publish } = this.#options;
    onAgentsChange();
    publish(() => ({ type: "changed", what: "tools" }));
  }

  /** Throws if agents have another tool with this name, as far as that can be known: they may get it later. */
  async #checkUnused(name: string, agent: string | undefined): Promise<void> {
    const { system, agents, listProviders } = this.#options;
    const asked = agent === undefined ? agents.listOnePerBlueprint(maxAskedAgents) : [agent];
    const owner = agent ?? "Agents";
    if (agent === undefined) {
      const ofSystem = collectTools(system)
        .list()
        .find(({ tool }) => tool.name === name || tool.aliases?.includes(name));
      if (ofSystem) throw createTakenError(name, owner, ofSystem.source);
      const provider = listProviders().find((other) =>
        other.tools.some((tool) => formatProvidedName(other.agent, tool.name) === name),
      );
      if (provider) throw createTakenError(name, owner, `agent ${provider.agent}`);
    }
    const sources = await Promise.all(asked.map((other) => this.#findSource(other, name)));
    const source = sources.find((found) => found !== undefined);
    if (source !== undefined) throw createTakenError(name, owner, source);
  }

  /** Returns where a tool of an agent comes from, unless that is the agency. */
  async #findSource(agent: string, name: string): Promise<string | undefined> {
    const tools = await this.#options
      .getThink(agent)
      .conversation.listTools()
      // An agent whose tools cannot be listed has none that could be known.
      .catch((): AgentTool[] => []);
    const found = tools.find((tool) => tool.name === name || tool.aliases?.includes(name));
    const source = found?.source === "mock" ? found.replaces : found?.source;
    return source === "agency" ? undefined : source;
  }
}

function createTakenError(name: string, owner: string, source: string): Error {
  const has = owner === "Agents" ? "have" : "has";
  return fail(
    "conflict",
    `${owner} already ${has} a tool named “${name}” (source: ${source}). Choose another name, or put a mock in its place.`,
  );
}

/** Throws if a tool cannot be created from its definition. */
function checkSchema(tool: AgencyToolDefinition): void {
  if (isMock(tool)) return;
  try {
    createDefinedTool(tool, () => Promise.reject(new Error("It is not called.")));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const path = ["tool", "parameters"];
    throw fail("bad_request", `${path.join(".")}: ${message}`, { issues: [{ path, message }] });
  }
}

/** The tools of an agency, for requests. */
export class AgencyToolsApi extends RpcTarget {
  readonly #open: () => Promise<AgencyTools>;

  constructor(open: () => Promise<AgencyTools>) {
    super();
    this.#open = open;
  }

  async list(): Promise<AgencyTool[]> {
    return (await this.#open()).list();
  }

  async put(tool: NewAgencyTool, by: string): Promise<AgencyTool> {
    return (await this.#open()).put(tool, by);
  }

  async delete(name: string, query: AgencyToolQuery): Promise<void> {
    (await this.#open()).delete(name, query);
  }
}

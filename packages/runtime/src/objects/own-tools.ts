import { type AgencyToolDefinition, type AgentAddress, formatAddress, type Props } from "@thinkery/sdk";
import { openOutbound } from "../host/outbound.ts";
import type { AgentStore } from "../store/agent-store.ts";
import { attachPropsTools } from "../system/layers.ts";
import type { System } from "../system/system.ts";
import { type AgencyToolSet, attachAgencyTools, attachMocks, createAgencyTools } from "../tools/agency-tools.ts";
import { attachProvidedTools, type CallAgentTool } from "../tools/provided-tools.ts";
import { Toolbox } from "../tools/toolbox.ts";
import type { AgencyReader } from "./agency-reader.ts";
import type { Env } from "./env.ts";

interface OwnToolsOptions {
  env: Env;
  system: System;
  address: AgentAddress;
  agency: AgencyReader;
  /** Calls a tool that another agent of the agency provides, with JSON. */
  callAgentTool: CallAgentTool;
  store: AgentStore;
  subagents(): { hasOpen: boolean };
  hasWebhook(): boolean;
  schedules(): { hasAny: boolean };
}

/** Adds what an agent has besides the tools of its blueprint. */
export class OwnTools {
  readonly #options: OwnToolsOptions;
  /** Reused until the agency is read again. */
  #ofAgency: { from: readonly AgencyToolDefinition[]; set: AgencyToolSet } | undefined;

  constructor(options: OwnToolsOptions) {
    this.#options = options;
  }

  /**
   * Returns a new toolbox that adds the tools from these props, those that the agency gives, and those of other agents.
   * Mocks come last. `callers` are the agents that wait for this one.
   */
  add(tools: Toolbox, props: readonly Props[], callers: readonly string[] = []): Toolbox {
    const { env, system, address, agency, callAgentTool } = this.#options;
    const toolbox = new Toolbox([], tools);
    for (const layer of props) attachPropsTools(toolbox, system, layer, openOutbound(env));
    const set = this.#createAgencyTools();
    attachAgencyTools(toolbox, set);
    const providers = agency.lastRules.provided.filter(({ agent }) => agent !== address.path[0]);
    attachProvidedTools(toolbox, providers, [...callers, formatAddress(address)], callAgentTool);
    attachMocks(toolbox, set);
    return toolbox;
  }

  /** Offers the groups of tools that the agent needs now. */
  enableGroups(tools: Toolbox): void {
    const { store, subagents, hasWebhook, schedules, agency } = this.#options;
    if (store.tasks.hasOpen || subagents().hasOpen) tools.enable("tasks");
    if (hasWebhook()) tools.enable("webhooks");
    if (schedules().hasAny) tools.enable("schedules");
    const { team, hasOthers } = agency.lastRules;
    if (team) tools.enable("team");
    if (team || hasOthers) tools.enable("channels");
  }

  #createAgencyTools(): AgencyToolSet {
    const { env, agency } = this.#options;
    const { tools } = agency.lastRules;
    if (this.#ofAgency?.from !== tools)
      this.#ofAgency = { from: tools, set: createAgencyTools(tools, openOutbound(env)) };
    return this.#ofAgency.set;
  }
}

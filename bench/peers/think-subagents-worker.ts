import { createOpenAI } from "@ai-sdk/openai";
import { Think } from "@cloudflare/think";
import { routeAgentRequest } from "agents";
import { agentTool } from "agents/agent-tools";
import { z } from "zod";

interface Env {
  Keeper: DurableObjectNamespace;
  models: Fetcher;
  BASE: string;
  MODEL: string;
}

abstract class Base extends Think<Env> {
  override getModel() {
    const ask = (input: RequestInfo | URL, init?: RequestInit) => this.env.models.fetch(input as string, init as never);
    return createOpenAI({ baseURL: this.env.BASE, apiKey: "x", fetch: ask as typeof fetch }).chat(this.env.MODEL);
  }
}

export class Helper extends Base {}

export class Keeper extends Base {
  override getTools() {
    return { task: agentTool(Helper, { description: "Run a sub-agent on a job.", inputSchema: z.object({ description: z.string() }) }) };
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    return (await routeAgentRequest(request, env)) ?? new Response("alive");
  },
};

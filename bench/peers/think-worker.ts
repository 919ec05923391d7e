import { createOpenAI } from "@ai-sdk/openai";
import { Think } from "@cloudflare/think";
import { routeAgentRequest } from "agents";
import { tool } from "ai";
import { z } from "zod";

interface Env {
  Keeper: DurableObjectNamespace;
  models: Fetcher;
  BASE: string;
  MODEL: string;
}

export class Keeper extends Think<Env> {
  override getModel() {
    const ask = (input: RequestInfo | URL, init?: RequestInit) => this.env.models.fetch(input as string, init as never);
    return createOpenAI({ baseURL: this.env.BASE, apiKey: "x", fetch: ask as typeof fetch }).chat(this.env.MODEL);
  }

  override getTools() {
    const inputSchema = z.object({ todos: z.array(z.object({ content: z.string(), status: z.string() })) });
    return { write_todos: tool({ description: "Replaces the list of todos.", inputSchema, execute: ({ todos }) => `${todos.length} todos` }) };
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    return (await routeAgentRequest(request, env)) ?? new Response("alive");
  },
};

import { AgentSystem } from "@thinkery/runtime";
import { defineMiddleware, defineTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  ...defineTool({ name, description: `The tool ${name}.`, inputSchema: z.object({}) }, () => ""),
  ...more,
});
const quiet = defineMiddleware({ name: "quiet" });
const strict = defineMiddleware({ name: "strict", tags: ["strict"], configSchema: z.object({ limit: z.number() }) });

/** Valid and invalid systems, by name. */
const systems: Record<string, () => unknown> = {
  "the defaults": () => new AgentSystem().defaults().export(),
  nothing: () => new AgentSystem().export(),
  "an unknown tag": () =>
    new AgentSystem()
      .defaults()
      .addTool(tool("a"), ["security"])
      .addAgent({ name: "analyst", tags: ["default", "securty"] })
      .export(),
  "a tag but no tagged tools": () => new AgentSystem().addAgent({ name: "analyst", tags: ["x"] }).export(),
  "two tools with the same name": () =>
    new AgentSystem().addTool(tool("a"), ["x"]).addTool(tool("a", { description: "Another." }), ["y"]),
  "an alias that is another tool's name": () =>
    new AgentSystem()
      .addTool(tool("a"), ["x"])
      .addTool(tool("b", { aliases: ["a"] }), ["y"])
      .export(),
  "the name of a core tool": () => new AgentSystem().addTool(tool("set_title")).export(),
  "a tool without tags": () => new AgentSystem().addTool(tool("a"), []),
  "a middleware without tags": () => new AgentSystem().use(quiet),
  "the same middleware twice": () => new AgentSystem().use(quiet, ["x"]).use(quiet, ["y"]),
  "the defaults twice": () => new AgentSystem().defaults().defaults(),
  "the same blueprint twice": () => new AgentSystem().addAgent({ name: "a" }).addAgent({ name: "a" }),
  "a replaced think": () => new AgentSystem().defaults().addAgent({ name: "think", prompt: "Ours." }).export(),
  "think twice": () =>
    new AgentSystem().addAgent({ name: "think", prompt: "Ours." }).addAgent({ name: "think", prompt: "Theirs." }),
  "an invalid blueprint": () => new AgentSystem().addAgent({ name: "a/b" }),
  "an invalid config": () =>
    new AgentSystem()
      .use(strict)
      .addAgent({ name: "a", tags: ["strict"], config: { limit: "3" as never } })
      .export(),
  "a missing config": () => new AgentSystem().use(strict, ["default"]).export(),
  "a tool without a description": () =>
    defineTool({ name: "a", description: " ", inputSchema: z.object({}) }, () => ""),
  "an invalid tool name": () => tool("no name"),
  "an empty middleware name": () => defineMiddleware({ name: "" }),
};

export default {
  fetch(request: Request): Response {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
    try {
      systems[name]?.();
      return new Response(name in systems ? "valid" : "unknown");
    } catch (error) {
      return new Response(error instanceof Error ? error.message : String(error));
    }
  },
};

import { AgentSystem } from "@thinkery/runtime";
import { defineMiddleware, defineTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  ...defineTool({ name, description: `The tool ${name}.`, inputSchema: z.object({}) }, () => ""),
  ...more,
});
const quiet = defineMiddleware({ name: "quiet" });
const strict = defineMiddleware({ name: "strict", tags: ["strict"], config: z.object({ limit: z.number() }) });

/** Systems that can or cannot be, by name: answers why one cannot. */
const systems: Record<string, () => unknown> = {
  "the stock one": () => new AgentSystem().defaults().export(),
  "an empty one": () => new AgentSystem().export(),
  "a tag that nothing has": () =>
    new AgentSystem()
      .defaults()
      .addTool(tool("a"), ["security"])
      .addAgent({ name: "analyst", tags: ["default", "securty"] })
      .export(),
  "a tag where there are none": () => new AgentSystem().addAgent({ name: "analyst", tags: ["x"] }).export(),
  "two tools of one name": () =>
    new AgentSystem().addTool(tool("a"), ["x"]).addTool(tool("a", { description: "Another." }), ["y"]),
  "an alias that is a name": () =>
    new AgentSystem()
      .addTool(tool("a"), ["x"])
      .addTool(tool("b", { aliases: ["a"] }), ["y"])
      .export(),
  "a core tool": () => new AgentSystem().addTool(tool("set_title")).export(),
  "a tool without tags": () => new AgentSystem().addTool(tool("a"), []),
  "a middleware without tags": () => new AgentSystem().use(quiet),
  "one middleware twice": () => new AgentSystem().use(quiet, ["x"]).use(quiet, ["y"]),
  "the defaults twice": () => new AgentSystem().defaults().defaults(),
  "one blueprint twice": () => new AgentSystem().addAgent({ name: "a" }).addAgent({ name: "a" }),
  "another think": () => new AgentSystem().defaults().addAgent({ name: "think", prompt: "Ours." }).export(),
  "think twice": () =>
    new AgentSystem().addAgent({ name: "think", prompt: "Ours." }).addAgent({ name: "think", prompt: "Theirs." }),
  "a blueprint that is none": () => new AgentSystem().addAgent({ name: "a/b" }),
  "a config that does not suit": () =>
    new AgentSystem()
      .use(strict)
      .addAgent({ name: "a", tags: ["strict"], config: { limit: "3" as never } })
      .export(),
  "a config that is missing": () => new AgentSystem().use(strict, ["default"]).export(),
  "a tool without a description": () =>
    defineTool({ name: "a", description: " ", inputSchema: z.object({}) }, () => ""),
  "a tool without a name": () => tool("no name"),
  "a middleware without a name": () => defineMiddleware({ name: "" }),
};

export default {
  fetch(request: Request): Response {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
    try {
      systems[name]?.();
      return new Response(name in systems ? "fine" : "unknown");
    } catch (error) {
      return new Response(error instanceof Error ? error.message : String(error));
    }
  },
};

// Mastra with LibSQL storage and its memory, one thread for each agent.
import { inNode, type Setup } from "./in-node.ts";

export const peer = inNode({ name: "mastra", durable: true, file: import.meta.url, needs: "@mastra/core", newerNode: true });

export const setup: Setup = async (baseURL, model, folder) => {
  const { Agent } = await import("@mastra/core/agent");
  const { Mastra } = await import("@mastra/core");
  const { createTool } = await import("@mastra/core/tools");
  const { LibSQLStore } = await import("@mastra/libsql");
  const { Memory } = await import("@mastra/memory");
  const { createOpenAI } = await import("@ai-sdk/openai");
  const { z } = await import("zod");
  const write_todos = createTool({
    id: "write_todos",
    description: "Replaces the list of todos.",
    inputSchema: z.object({ todos: z.array(z.object({ content: z.string(), status: z.string() })) }),
    execute: async (input) => `${input.todos.length} todos`,
  });
  const storage = new LibSQLStore({ id: "bench", url: `file:${folder}/mastra.db` });
  const agent = new Agent({
    id: "bench",
    name: "bench",
    instructions: "You are a helpful assistant.",
    model: createOpenAI({ baseURL, apiKey: "x" }).chat(model),
    tools: { write_todos },
    memory: new Memory({ storage }),
  });
  new Mastra({ agents: { bench: agent }, storage, logger: false });
  return async (name) => {
    const result = await agent.stream("Please note what there is to do.", { memory: { thread: name, resource: "bench" }, maxSteps: 5 });
    for await (const part of result.fullStream) if (part.type === "error") throw part.payload.error;
  };
};

// The AI SDK by itself: its loop, nothing stored. What an agent remembers is an array.
import { inNode, type Setup } from "./in-node.ts";

export const peer = inNode({ name: "AI SDK in Node", durable: false, file: import.meta.url, needs: "ai", newerNode: true });

export const setup: Setup = async (baseURL, model) => {
  const { streamText, tool, isStepCount } = await import("ai");
  const { createOpenAI } = await import("@ai-sdk/openai");
  const { z } = await import("zod");
  const openai = createOpenAI({ baseURL, apiKey: "x" });
  const memories = new Map<string, import("ai").ModelMessage[]>();
  const todos = z.object({ todos: z.array(z.object({ content: z.string(), status: z.string() })) });
  const write_todos = tool({ description: "Replaces the list of todos.", inputSchema: todos, execute: ({ todos }) => `${todos.length} todos` });
  return async (agent) => {
    const messages = memories.get(agent) ?? [];
    memories.set(agent, messages);
    messages.push({ role: "user", content: "Please note what there is to do." });
    const result = streamText({ model: openai.chat(model), messages: [...messages], tools: { write_todos }, stopWhen: isStepCount(5) });
    for await (const part of result.fullStream) if (part.type === "error") throw part.error;
    for (const step of await result.steps) messages.push(...step.response.messages);
  };
};

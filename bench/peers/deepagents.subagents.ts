// deepagents' own `task` tool and its general-purpose sub-agent, with LangGraph's SQLite checkpointer.
import { createTeamMessages } from "../kit/model.ts";
import { inNode, type Setup } from "./in-node.ts";

export const peer = inNode({ name: "deepagents", durable: true, file: import.meta.url, needs: "deepagents" });

export const setup: Setup = async (baseURL, model, folder) => {
  const { createDeepAgent } = await import("deepagents");
  const { ChatOpenAI } = await import("@langchain/openai");
  const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
  const agent = createDeepAgent({
    model: new ChatOpenAI({ model, apiKey: "x", useResponsesApi: false, streaming: true, configuration: { baseURL } }),
    checkpointer: SqliteSaver.fromConnString(`${folder}/checkpoints.sqlite`),
  });
  const createMessage = createTeamMessages();
  return async (name) => {
    const input = { messages: [{ role: "user" as const, content: createMessage(name) }] };
    const stream = await agent.stream(input, { configurable: { thread_id: name }, streamMode: "messages" });
    for await (const _ of stream);
  };
};

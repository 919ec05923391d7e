// pi's agent; each finished message is appended to a file of JSON lines, as pi's own program does. It never syncs.
import { inNode, type Setup } from "./in-node.ts";
import { piAiOf, piProvider } from "./pi-provider.ts";

export const peer = inNode({ name: "pi", durable: false, file: import.meta.url, needs: "@earendil-works/pi-agent-core", newerNode: true });

export const setup: Setup = async (baseUrl, model, folder) => {
  const { appendFileSync } = await import("node:fs");
  const { Agent } = await import("@earendil-works/pi-agent-core");
  const { createModels } = await import("@earendil-works/pi-ai");
  const { Type } = await import("typebox");
  const models = createModels();
  models.setProvider(await piProvider(piAiOf("@earendil-works/pi-agent-core"), baseUrl, model));
  const write_todos = {
    name: "write_todos",
    label: "Todos",
    description: "Replaces the list of todos.",
    parameters: Type.Object({ todos: Type.Array(Type.Object({ content: Type.String(), status: Type.String() })) }),
    execute: async (_id: string, { todos }: { todos: unknown[] }) => ({ content: [{ type: "text" as const, text: `${todos.length} todos` }], details: {} }),
  };
  const agents = new Map<string, InstanceType<typeof Agent>>();
  return async (name) => {
    let agent = agents.get(name);
    if (!agent) {
      const initialState = { systemPrompt: "You are a helpful assistant.", model: models.getModel("zero", model)!, tools: [write_todos] };
      agent = new Agent({ initialState, streamFn: models.streamSimple.bind(models) });
      agent.subscribe((event) => {
        if (event.type === "message_end") appendFileSync(`${folder}/${name}.jsonl`, `${JSON.stringify(event.message)}\n`);
      });
      agents.set(name, agent);
    }
    await agent.prompt("Please note what there is to do.");
    if (agent.state.errorMessage) throw new Error(agent.state.errorMessage);
  };
};

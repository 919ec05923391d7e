// flue's runtime in one process with its SQLite database, as its guide shows for standalone programs.
import { inNode, type Setup } from "./in-node.ts";
import { piAiOf, piProvider } from "./pi-provider.ts";

export const peer = inNode({ name: "flue", durable: true, file: import.meta.url, needs: "@flue/runtime", newerNode: true });

export const setup: Setup = async (baseUrl, model, folder) => {
  const { init, setProvider, useModel, useTool, defineTool } = await import("@flue/runtime");
  const { sqlite, start } = await import("@flue/runtime/node");
  const v = await import("valibot");
  setProvider((await piProvider(piAiOf("@flue/runtime"), baseUrl, model)) as never);
  const writeTodos = defineTool({
    name: "write_todos",
    description: "Replaces the list of todos.",
    input: v.object({ todos: v.array(v.object({ content: v.string(), status: v.string() })) }),
    run: async ({ data }) => ({ output: `${data.todos.length} todos` }),
  });
  function Keeper() {
    useModel(`zero/${model}`);
    useTool(writeTodos);
    return "You are a helpful assistant.";
  }
  await start({ agents: [Keeper], db: sqlite(`${folder}/flue.db`) });
  return async (name) => {
    const agent = init(Keeper, { id: name });
    await agent.read(await agent.dispatch("Please note what there is to do."));
  };
};

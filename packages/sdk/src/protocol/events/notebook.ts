import { z } from "zod";
import { todoSchema } from "../turn.ts";

/** Events about an agent's todos and title. */
export const notebookEvents = () => ({
  "todos.updated": z.object({ todos: z.array(todoSchema) }),
  "title.set": z.object({ title: z.string() }),
});

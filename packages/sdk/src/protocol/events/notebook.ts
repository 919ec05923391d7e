import { z } from "zod";
import { todoSchema } from "../turn.ts";

/** What an agent writes down about its work. */
export const notebookEvents = () => ({
  "todos.updated": z.object({ todos: z.array(todoSchema) }),
  "title.set": z.object({ title: z.string() }),
});

import { z } from "zod";
import { tool } from "./tool.ts";

export const setTitle = tool({
  name: "set_title",
  description: "Give this conversation a short title, once you know what it is about.",
  input: z.object({ title: z.string().trim().min(1).max(120) }),
  action: "set",
  repeatable: true,
  independent: false,
  local: true,
  run({ title }, context) {
    context.record({ type: "title.set", data: { title } });
    return `The title is “${title}”.`;
  },
});

import { defineTool } from "@thinkery/sdk";
import { z } from "zod";

export const setTitle = defineTool(
  {
    name: "set_title",
    description: "Give this conversation a short title once you know what it is about.",
    inputSchema: z.object({ title: z.string().trim().min(1).max(120) }),
    action: "set",
    idempotent: true,
    local: true,
  },
  ({ title }, context) => {
    context.record({ type: "title.set", data: { title } });
    return `Set the title to “${title}”.`;
  },
);

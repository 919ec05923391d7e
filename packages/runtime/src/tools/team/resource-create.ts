import { z } from "zod";
import { defineDocumentTool } from "./document-tool.ts";

export const resourceCreate = defineDocumentTool(
  {
    name: "resource_create",
    description: "Store a long text for your team; returns the id to pass on.",
    inputSchema: z.object({ content: z.string().min(1), type: z.string().optional() }),
    action: "create",
  },
  async ({ content, type }, { team }) => {
    const { id, size, type: stored } = await team.createResource(content, type);
    return { id, type: stored, size };
  },
);

import { z } from "zod";
import { defineDocumentTool } from "./document-tool.ts";
import { formatWritten } from "./format-written.ts";

export const docCreate = defineDocumentTool(
  {
    name: "team_doc_create",
    description: "Create a shared document. Fails if it exists.",
    inputSchema: z.object({ name: z.string(), content: z.string() }),
    action: "create",
  },
  async ({ name, content }, { team }) =>
    formatWritten(`Created ${name}`, await team.documents.write(name, content, { isNew: true })),
);

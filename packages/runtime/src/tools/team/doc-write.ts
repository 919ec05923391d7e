import { z } from "zod";
import { defineDocumentTool } from "./document-tool.ts";
import { formatWritten } from "./format-written.ts";

export const docWrite = defineDocumentTool(
  {
    name: "team_doc_write",
    description: "Replace a shared document, or create it. Read an existing one first: others may have changed it.",
    inputSchema: z.object({ name: z.string(), content: z.string() }),
    action: "write",
  },
  async ({ name, content }, { team }) =>
    formatWritten(`Wrote ${name}`, await team.documents.write(name, content), `${name} already has this content.`),
);

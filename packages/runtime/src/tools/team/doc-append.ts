import { z } from "zod";
import { defineDocumentTool } from "./document-tool.ts";
import { formatWritten } from "./format-written.ts";

export const docAppend = defineDocumentTool(
  {
    name: "team_doc_append",
    description: "Append text to a shared document, as it is: begin and end with line breaks where you need them.",
    inputSchema: z.object({ name: z.string(), content: z.string() }),
    action: "append",
  },
  async ({ name, content }, { team }) =>
    formatWritten(`Appended to ${name}`, await team.documents.append(name, content), "There was nothing to append."),
);

import { z } from "zod";
import { formatBytes, limitLines } from "../files/format.ts";
import { defineDocumentTool } from "./document-tool.ts";

const maxListed = 200;

export const docList = defineDocumentTool(
  {
    name: "team_doc_list",
    description: "List the documents that your team shares.",
    inputSchema: z.object({}),
    action: "list",
    parallel: true,
    polls: true,
  },
  async (_, { team }) => {
    const documents = await team.documents.list();
    if (documents.length === 0) return "There are no documents yet.";
    const lines = documents.map(({ name, size }) => `${name} (${formatBytes(size)})`);
    return limitLines(lines, maxListed, (omitted) => `[${omitted} more]`);
  },
);

import { z } from "zod";
import { formatCount } from "../files/format.ts";
import { defineDocumentTool } from "./document-tool.ts";
import { pageText } from "./page-text.ts";

export const docRead = defineDocumentTool(
  {
    name: "team_doc_read",
    description: "Read a shared document, or `limit` lines of it from line `offset`.",
    inputSchema: z.object({ name: z.string(), offset: z.number().optional(), limit: z.number().optional() }),
    action: "read",
    parallel: true,
    polls: true,
    summarize: (output) => formatCount(String(output).split("\n").length, "line"),
  },
  async ({ name, ...page }, { team }) => pageText(await team.documents.read(name), page),
);

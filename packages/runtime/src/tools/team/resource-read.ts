import { ToolImage } from "@thinkery/sdk";
import { z } from "zod";
import { decodeText } from "../../workspace/content.ts";
import { formatBytes, formatCount } from "../files/format.ts";
import { detectImageType } from "../files/image-type.ts";
import { defineDocumentTool } from "./document-tool.ts";
import { pageText } from "./page-text.ts";

export const resourceRead = defineDocumentTool(
  {
    name: "resource_read",
    description: "Read a resource by its id, or `limit` lines of it from line `offset`.",
    inputSchema: z.object({ id: z.string(), offset: z.number().optional(), limit: z.number().optional() }),
    action: "read",
    parallel: true,
    summarize: (output) =>
      output instanceof ToolImage ? "an image" : formatCount(String(output).split("\n").length, "line"),
  },
  async ({ id, ...page }, { team }) => {
    const { resource, content } = await team.readResource(id.trim());
    const image = detectImageType(content);
    if (image) return new ToolImage(image, content, `resource ${resource.id}`);
    const text = decodeText(content);
    return text === undefined
      ? `It is not text: ${resource.type}, ${formatBytes(resource.size)}.`
      : pageText(text, page);
  },
);

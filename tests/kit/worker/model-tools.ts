import { defineTool, type ModelRole, modelRoles, ToolImage } from "@thinkery/sdk";
import { z } from "zod";

/** A PNG of one pixel, in base64. */
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Tools that involve other models than the one that calls them. */
export const modelTools = [
  defineTool(
    {
      name: "ask",
      description: "Asks the model of a role.",
      inputSchema: z.object({ role: z.enum(modelRoles), prompt: z.string() }),
      idempotent: true,
      parallel: true,
    },
    ({ role, prompt }, { generate }) => generate({ role: role as ModelRole, prompt, purpose: "test" }),
  ),
  defineTool(
    { name: "picture", description: "Shows a picture.", inputSchema: z.object({}), idempotent: true },
    () =>
      new ToolImage(
        "image/png",
        Uint8Array.from(atob(pixel), (char) => char.charCodeAt(0)),
        "a dot",
      ),
  ),
];

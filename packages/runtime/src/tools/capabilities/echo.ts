import { defineTool } from "@thinkery/sdk";
import { z } from "zod";

/** Gives back what it is given: how code finds out that somebody is there. */
export const echo = defineTool(
  { name: "echo", description: "Answers what it is told.", inputSchema: z.unknown(), idempotent: true, parallel: true },
  (input) => input,
);

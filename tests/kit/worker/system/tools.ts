import { defer, defineTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export const echo = defineTool(
  {
    name: "echo",
    aliases: ["say_again"],
    description: "Says it again.",
    inputSchema: z.object({ text: z.string() }),
    idempotent: true,
  },
  ({ text }) => text,
);

export const throws = defineTool({ name: "throws", description: "Throws.", inputSchema: z.object({}) }, () => {
  throw new Error("This tool throws.");
});

/** A tool that, after a delay, either defers its result or returns one itself. */
const createDelayedTool = (name: string, more: Partial<Tool>, execute: (input: { ms: number }) => unknown): Tool => ({
  ...defineTool(
    {
      name,
      description: "Its result comes later.",
      inputSchema: z.object({ ms: z.number().default(0), note: z.string().default("") }),
    },
    execute,
  ),
  ...more,
});

export const later = createDelayedTool("later", { parallel: true }, () => defer());

export const laterAlone = createDelayedTool("later_alone", {}, async () => defer());

export const laterSlowly = createDelayedTool("later_slowly", {}, async ({ ms }) => {
  await sleep(ms);
  return defer();
});

export const laterLocally = createDelayedTool("later_locally", { local: true }, () => defer());

export const answersAnyway = createDelayedTool("answers_anyway", {}, async ({ ms }) => {
  await sleep(ms);
  return "It answered by itself.";
});

/** Returns the data of the request's props. */
export const readProps = defineTool(
  { name: "read_props", description: "Reads the props.", inputSchema: z.object({}), idempotent: true },
  (_, { props }) => ({ ...props.data }),
);

/** Has the same name as a tool of the class. */
export const clash = defineTool(
  { name: "of_the_class", description: "Of the system.", inputSchema: z.object({}) },
  () => "the system's",
);

export const ofTheClass = defineTool(
  { name: "of_the_class", description: "Of the class.", inputSchema: z.object({}) },
  () => "the class's",
);

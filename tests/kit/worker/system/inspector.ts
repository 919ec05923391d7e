import { defineMiddleware } from "@thinkery/sdk";
import { z } from "zod";

const configSchema = z.object({
  inspector: z
    .object({
      rename: z.string().optional(),
      deny: z.string().optional(),
      fail: z.enum(["throw", "hang", "nonsense"]).optional(),
    })
    .default({}),
});

/** A `beforeTool` hook that changes inputs, denies calls, or fails, as its config says. */
export const inspector = defineMiddleware({
  name: "inspector",
  tags: ["inspector"],
  configSchema: configSchema,
  beforeTool(context, call) {
    const { rename, deny, fail } = context.config.inspector;
    context.state.seen = [
      ...((context.state.seen as string[] | undefined) ?? []),
      `${call.name} ${JSON.stringify(call.input)}`,
    ];
    if (call.name === "executeCode") return;
    if (fail === "throw") throw new Error("The inspector is out.");
    if (fail === "hang") return new Promise(() => {});
    if (fail === "nonsense") return { allow: true } as never;
    if (deny) return { deny };
    if (rename !== undefined)
      return { input: rename === "" ? { text: 5 } : { ...(call.input as object), text: rename } };
  },
  state: (context) => ({ seen: context.state.seen ?? [] }),
});

/** Runs after `inspector` and sees its changes. */
export const secondInspector = defineMiddleware({
  name: "second-inspector",
  tags: ["inspector"],
  beforeTool(context, call) {
    context.state.last = JSON.stringify(call.input);
  },
  state: (context) => ({ last: context.state.last }),
});

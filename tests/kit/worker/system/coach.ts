import { defineMiddleware, defineTool, type ModelPlan } from "@thinkery/sdk";
import { z } from "zod";

const editsSchema = z.strictObject({
  system: z.string().optional(),
  reminder: z.string().optional(),
  only: z.array(z.string()).optional(),
  without: z.array(z.string()).optional(),
  temperature: z.number().optional(),
  maxOutputTokens: z.number().optional(),
  /** A prompt for a model, and the role to use. */
  ask: z
    .strictObject({ prompt: z.string(), role: z.enum(["primary", "fast", "summarizer", "vision"]).optional() })
    .optional(),
  /** Steps in which it registers another tool. */
  give: z.array(z.number()).default([]),
});

type Edits = z.infer<typeof editsSchema>;

/** A middleware that edits every model call as its config says. */
export const coach = defineMiddleware({
  name: "coach",
  tags: ["coach"],
  configSchema: z.object({ coach: editsSchema.default({ give: [] }) }),
  state: ({ config, state }) => ({ coached: config.coach, answered: state.answer ?? null }),
  onInit(context) {
    context.registerTool(createGiftTool("from_init"));
  },
  async beforeModel(context, plan) {
    const edits = context.config.coach;
    applyEdits(plan, edits);
    if (edits.give.includes(context.step)) context.registerTool(createGiftTool(`from_step_${context.step}`));
    if (edits.ask) context.state.answer = await context.generate({ purpose: "test", ...omitUndefinedRole(edits.ask) });
  },
});

function applyEdits(plan: ModelPlan, { system, reminder, only, without, temperature, maxOutputTokens }: Edits): void {
  if (system) plan.addSystem(system);
  if (reminder) plan.addReminder(reminder);
  if (only) plan.restrictTools(only);
  if (without) plan.removeTools(without);
  if (temperature !== undefined) plan.updateSettings({ temperature });
  if (maxOutputTokens !== undefined) plan.updateSettings({ maxOutputTokens });
}

function omitUndefinedRole({ prompt, role }: NonNullable<Edits["ask"]>) {
  return { prompt, ...(role ? { role } : {}) };
}

export function createGiftTool(name: string) {
  return defineTool(
    { name, description: `Given as ${name}.`, inputSchema: z.object({}), idempotent: true },
    () => `${name} was called`,
  );
}

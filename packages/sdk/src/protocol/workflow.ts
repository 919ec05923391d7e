import { z } from "zod";
import {
  agentNameSchema,
  blueprintNameSchema,
  channelNameSchema,
  driverNameSchema,
  modelIdSchema,
  workflowNameSchema,
} from "./name-schemas.ts";
import { nextSchema } from "./page.ts";
import { roleEffortsSchema } from "./roles.ts";

/** Agents of one workflow. */
export const maxWorkflowAgents = 50;

/** The longest prompt and kickoff, with the values of their placeholders. */
export const maxPromptChars = 100_000;

/** The longest document that a workflow begins with, with the values of its placeholders. */
export const maxDocumentChars = 1_000_000;

const promptSchema = z.string().max(maxPromptChars);

/** An agent of a workflow, in the words of workflow files. */
export const workflowAgentSchema = z.strictObject({
  backend: driverNameSchema.optional().meta({ description: "How its turns are computed (the driver)." }),
  blueprint: blueprintNameSchema.optional(),
  model: modelIdSchema.optional(),
  system_prompt: promptSchema.optional(),
  system_prompt_file: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .meta({ description: "A file next to the workflow, which the command line reads." }),
  tools: z.array(z.string().min(1).max(64)).max(64).optional(),
  max_steps: z.int().min(1).optional(),
  max_tokens: z.int().min(1).optional(),
  role: z.string().max(500).optional().meta({ description: "What it is for. The other agents see it." }),
  settings: z
    .strictObject({
      temperature: z.number().min(0).max(2).optional(),
      reasoning: roleEffortsSchema.optional(),
      budget: z
        .strictObject({
          steps: z.int().min(1).optional(),
          tokens: z.int().min(1).optional(),
          costUsd: z.number().positive().optional(),
          seconds: z.number().positive().optional(),
        })
        .optional(),
    })
    .optional(),
  schedule: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: "A cron expression. It gets the kickoff whenever it is due." }),
});

export type WorkflowAgent = z.infer<typeof workflowAgentSchema>;

const setupStepSchema = z.strictObject({
  shell: z.string().min(1).max(20_000).meta({ description: "A command, run where the command line runs." }),
  as: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, "use letters, digits, _ and -, with a letter or _ first")
    .optional()
    .meta({ description: "The name of its trimmed output: `${{ name }}`." }),
});

export type SetupStep = z.infer<typeof setupStepSchema>;

const variableNameSchema = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, "use letters, digits, _ and -, with a letter or _ first");

const maxVariableChars = 100_000;

export const variablesSchema = z
  .record(
    variableNameSchema,
    z.union([z.string().max(maxVariableChars), z.number(), z.boolean()], {
      error: `expected a text of at most ${maxVariableChars} characters, a number, true or false`,
    }),
  )
  .refine((vars) => Object.keys(vars).length <= 200, { error: "more than 200 variables" });

export type Variables = z.infer<typeof variablesSchema>;

/** Bounds of a run. What runs longer ends with a reason. */
const workflowLimitsSchema = z.strictObject({
  max_turns: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .meta({ description: "Turns of all agents. Defaults to 1,000, but for resident runs." }),
  max_seconds: z.number().min(1).optional().meta({ description: "Defaults to a day." }),
  max_turns_without_progress: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .meta({ description: "Turns in a row in which an agent only writes to others. Defaults to 8." }),
});

export const workflowSchema = z
  .strictObject({
    name: workflowNameSchema,
    description: z.string().max(2000).optional(),
    agents: z
      .record(
        agentNameSchema,
        workflowAgentSchema.nullable().transform((agent) => agent ?? {}),
      )
      .refine((agents) => Object.keys(agents).length >= 1, { error: "expected at least one agent" })
      .refine((agents) => Object.keys(agents).length <= maxWorkflowAgents, {
        error: `more than ${maxWorkflowAgents} agents`,
      }),
    context: z
      .strictObject({
        channels: z.array(channelNameSchema).max(50).optional(),
        documents: z
          .record(z.string().min(1).max(500), z.string().max(maxDocumentChars))
          .optional()
          .meta({ description: "Documents to start with, by path." }),
      })
      .nullish(),
    setup: z.array(setupStepSchema).max(100).optional(),
    vars: variablesSchema.optional(),
    kickoff: promptSchema.optional().meta({ description: "The first message. A lone agent needs no mention." }),
    limits: workflowLimitsSchema.optional(),
  })
  .meta({ id: "Workflow", description: "A team of agents and what starts it, as in a workflow file." });

export type Workflow = z.infer<typeof workflowSchema>;

/** A workflow as it is written: what has a default may be left out. */
export type NewWorkflow = z.input<typeof workflowSchema>;

export const storedWorkflowSchema = z
  .object({
    name: z.string(),
    description: z.string().optional(),
    agents: z.array(z.string()),
    hasSetup: z.boolean(),
    updatedAt: z.string(),
  })
  .meta({ id: "StoredWorkflow" });

export type StoredWorkflow = z.infer<typeof storedWorkflowSchema>;

export const storedWorkflowListSchema = z.object({ workflows: z.array(storedWorkflowSchema), next: nextSchema });

import { z } from "zod";
import { channelMessageSchema, channelSchema } from "./channel.ts";
import { personWaits, scopes, teamAgentStatuses } from "./choices.ts";
import { inboxCountsSchema, inboxItemSchema } from "./inbox.ts";
import { userNameSchema } from "./name-schemas.ts";
import { nextSchema } from "./page.ts";
import { teamTaskSchema } from "./team-task.ts";
import { workflowRunSchema } from "./workflow-run.ts";

/** An agent as its team sees it. */
export const teamAgentSchema = z
  .object({
    name: z.string(),
    role: z.string().optional().meta({ description: "What it is for, in the words of its workflow or blueprint." }),
    status: z.enum(teamAgentStatuses),
    waitingFor: z.enum([...personWaits, "subagent", "other"]).optional(),
    runId: z.string().optional(),
    tool: z.string().optional().meta({ description: "The tool that it is using." }),
    since: z.string().optional().meta({ description: "When it began to do this." }),
    error: z.string().optional().meta({ description: "Why its last turn failed." }),
    note: z.string().optional().meta({ description: "What it says about itself (`my_status_set`)." }),
    task: z.string().optional().meta({ description: "The task that it says it works on." }),
    steps: z.number(),
    tokens: z.number(),
    costUsd: z.number().nullable(),
    inbox: inboxCountsSchema,
  })
  .meta({ id: "TeamAgent" });

export type TeamAgent = z.infer<typeof teamAgentSchema>;

/** A person who may use an agency, or an agent of it. */
export const memberSchema = z
  .discriminatedUnion("kind", [
    z.object({
      kind: z.literal("user"),
      name: z.string(),
      owner: z.literal(true).optional(),
      scopes: z.array(z.enum(scopes)),
      addedAt: z.string(),
    }),
    teamAgentSchema.extend({ kind: z.literal("agent") }),
  ])
  .meta({ id: "Member" });

export type Member = z.infer<typeof memberSchema>;

export const memberListSchema = z.object({ members: z.array(memberSchema), next: nextSchema });

export const newMemberSchema = z
  .strictObject({
    scopes: z
      .array(z.enum(scopes))
      .min(1)
      .max(scopes.length)
      .default(["chat"])
      .meta({ description: "What the user may do. Every member may read." }),
  })
  .meta({ id: "NewMember" });

export const userMemberSchema = z.object({
  kind: z.literal("user"),
  name: userNameSchema,
  owner: z.literal(true).optional(),
  scopes: z.array(z.enum(scopes)),
  addedAt: z.string(),
});

export type UserMember = z.infer<typeof userMemberSchema>;

export const feedbackSchema = z
  .object({
    id: z.string(),
    from: z.string(),
    fromKind: z.enum(["agent", "user"]),
    message: z.string(),
    rating: z.number().optional(),
    runId: z.string().optional(),
    createdAt: z.string(),
  })
  .meta({ id: "Feedback", description: "What an agent or a person thinks of how things go." });

export type Feedback = z.infer<typeof feedbackSchema>;

export const newFeedbackSchema = z
  .strictObject({
    message: z.string().trim().min(1).max(10_000),
    rating: z.int().min(1).max(5).optional().meta({ description: "1 is bad, 5 is good." }),
    idempotencyKey: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .meta({ description: "The same key again is the same feedback." }),
  })
  .meta({ id: "NewFeedback" });

export type NewFeedback = z.infer<typeof newFeedbackSchema>;

export const feedbackListSchema = z.object({
  feedback: z.array(feedbackSchema).meta({ description: "Newest first." }),
  next: nextSchema,
});

/** Builds the schema of what an agency sends over its socket. Only the OpenAPI document needs it. */
export function createTeamFrameSchema() {
  return z
    .discriminatedUnion("type", [
      z.object({
        type: z.literal("sync"),
        agents: z.array(teamAgentSchema),
        run: workflowRunSchema.optional(),
      }),
      z.object({ type: z.literal("message"), message: channelMessageSchema }),
      z.object({ type: z.literal("channel"), channel: channelSchema }),
      z.object({ type: z.literal("channel-removed"), name: z.string() }),
      z.object({ type: z.literal("inbox"), item: inboxItemSchema }),
      z.object({ type: z.literal("agent"), agent: teamAgentSchema }),
      z.object({ type: z.literal("agent-removed"), name: z.string() }),
      z.object({ type: z.literal("task"), task: teamTaskSchema }),
      z.object({ type: z.literal("workflow"), run: workflowRunSchema }),
      z
        .object({ type: z.literal("changed"), what: z.enum(["documents", "members", "tools", "settings", "feedback"]) })
        .describe("Something changed that is not sent itself. Read it again."),
    ])
    .meta({ id: "TeamFrame", description: "What happens in an agency." });
}

export type TeamFrame = z.infer<ReturnType<typeof createTeamFrameSchema>>;

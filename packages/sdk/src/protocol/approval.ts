import { z } from "zod";
import { approvalStatuses, rememberScopes } from "./choices.ts";
import { nextSchema, pageQuerySchema } from "./page.ts";

const maxReasonChars = 10_000;

/** What a person sees of a call before deciding about it. */
export const callPreviewSchema = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("diff"), path: z.string(), diff: z.string() }),
    z.object({ kind: z.literal("command"), command: z.string() }),
    z.object({ kind: z.literal("request"), method: z.string(), url: z.string(), body: z.string().optional() }),
    z.object({ kind: z.literal("code"), code: z.string() }),
    z.object({ kind: z.literal("text"), text: z.string() }),
  ])
  .meta({ id: "CallPreview", description: "What a call would do: the diff of an edit, a command, a request or code." });

export type CallPreview = z.infer<typeof callPreviewSchema>;

/** A remembered answer: calls it matches need no approval. */
export const grantSchema = z
  .object({
    id: z.string(),
    tool: z.string(),
    match: z.string().optional().meta({ description: "As in a rule. Without it, every call of the tool." }),
    agent: z.string().optional().meta({ description: "The agent it is for, with everyone below it; all if missing." }),
    by: z.string(),
    createdAt: z.string(),
  })
  .meta({ id: "Grant", description: "A remembered approval: calls it matches are not asked about again." });

export type Grant = z.infer<typeof grantSchema>;

export const grantListSchema = z.object({ grants: z.array(grantSchema) });

export const callDecisionSchema = z.object({
  callId: z.string(),
  approved: z.boolean(),
  input: z.unknown().optional().meta({ description: "Replaces the call's input." }),
  result: z.unknown().optional().meta({ description: "The call's result, in place of running the tool." }),
  reason: z.string().optional(),
});

export type CallDecision = z.infer<typeof callDecisionSchema>;

export const askedCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  args: z.unknown(),
  why: z.string().meta({ description: "Why it needs approval." }),
  preview: callPreviewSchema.optional(),
  remember: z
    .string()
    .optional()
    .meta({ description: "What `remember` would allow: the `match` of a rule. Without it, every call of the tool." }),
  decision: callDecisionSchema.omit({ callId: true }).optional(),
});

export type AskedCall = z.infer<typeof askedCallSchema>;

export const approvalSchema = z
  .object({
    id: z.string(),
    status: z.enum(approvalStatuses),
    agent: z.string().meta({ description: "The agent that asks, as `agency~agent/sub-agent`." }),
    turn: z.string(),
    calls: z.array(askedCallSchema),
    preview: z.string().optional().meta({ description: "The previews of all calls as text." }),
    digest: z.string().meta({ description: "The hash of the calls. An answer with another digest is refused." }),
    createdAt: z.string(),
    expiresAt: z.string(),
    answeredAt: z.string().optional(),
    answeredBy: z.string().optional(),
    reason: z.string().optional(),
    shortened: z
      .boolean()
      .optional()
      .meta({ description: "Long inputs are cut; the agent's own list has all of them." }),
  })
  .meta({ id: "Approval", description: "Tool calls of one model response that wait for a person's decision." });

export type Approval = z.infer<typeof approvalSchema>;

export const approvalAnswerFields = z.strictObject({
  approvalId: z.string().min(1).max(200).optional().meta({ description: "Defaults to the only pending approval." }),
  approved: z.boolean().optional(),
  reason: z.string().max(maxReasonChars).optional(),
  digest: z.string().max(200).optional(),
  modifiedToolCalls: z
    .array(z.strictObject({ toolName: z.string().min(1).max(200), args: z.unknown() }))
    .max(200)
    .optional()
    .meta({ description: "New inputs for the calls, in their order. Needs `approved: true`." }),
  decisions: z
    .array(
      z.strictObject({
        callId: z.string().min(1).max(200),
        approved: z.boolean(),
        input: z.unknown().optional(),
        result: z.unknown().optional(),
        reason: z.string().max(maxReasonChars).optional(),
      }),
    )
    .min(1)
    .max(200)
    .optional()
    .meta({ description: "Decisions about single calls. The others stay pending unless `approved` is given." }),
  remember: z.enum(rememberScopes).default("once").meta({
    description:
      "Whether calls like these are approved from now on, for this agent or for its agency. Calls with another input or a result are approved once.",
  }),
});

/** A person's answer to an approval. Calls that `decisions` does not name are decided by `approved`, if it is given. */
export const approvalAnswerSchema = approvalAnswerFields.refine(
  ({ approved, decisions }) => approved !== undefined || decisions !== undefined,
  { error: "give approved, or decisions", path: ["approved"] },
);

export type ApprovalAnswer = z.infer<typeof approvalAnswerSchema>;

export const approvalQuerySchema = pageQuerySchema.extend({
  status: z.enum([...approvalStatuses, "all"]).optional(),
  id: z.string().max(200).optional().meta({ description: "Only the approval with this id." }),
});

export type ApprovalQuery = z.infer<typeof approvalQuerySchema>;

export const approvalListSchema = z.object({ approvals: z.array(approvalSchema), next: nextSchema });

export type ApprovalList = z.infer<typeof approvalListSchema>;

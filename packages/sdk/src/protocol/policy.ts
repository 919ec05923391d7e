import { z } from "zod";

export const policyRuleSchema = z.strictObject({
  tool: z.string().min(1).max(200).meta({ description: "A tool's name; `*` matches anything." }),
  match: z
    .string()
    .max(2000)
    .optional()
    .meta({ description: "What the call's input must match. Without it, the rule applies to every call of the tool." }),
  agent: z
    .string()
    .max(200)
    .optional()
    .meta({ description: "The agents it applies to, by name, with everyone below them; `*` matches anything." }),
  agency: z.string().max(200).optional().meta({ description: "The agencies it applies to; `*` matches anything." }),
  action: z.enum(["deny", "ask", "allow"]),
});

export type PolicyRule = z.infer<typeof policyRuleSchema>;

export const policyRulesSchema = z.array(policyRuleSchema).max(500);

/** The rules for all agents of an agency, in addition to those of their blueprints. */
export const policySchema = z.strictObject({ rules: policyRulesSchema }).meta({ id: "Policy" });

export type Policy = z.infer<typeof policySchema>;

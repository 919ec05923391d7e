import { z } from "zod";
import { findNameIssue, nameIssues, type NameRule, nameRules } from "./names.ts";

function createNameSchema(rule: NameRule) {
  const { empty, tooLong, reserved } = nameIssues(rule);
  const text = z.string().min(1, empty).max(rule.maxChars, tooLong).regex(rule.pattern, rule.form);
  return rule.reserved ? text.refine((name) => findNameIssue(rule, name) !== reserved, reserved) : text;
}

export const agentNameSchema = createNameSchema(nameRules.agent);

export const blueprintNameSchema = createNameSchema(nameRules.blueprint);

/** Only the format: the host knows which drivers exist, since a Worker may add its own. */
export const driverNameSchema = createNameSchema(nameRules.driver);

export const userNameSchema = createNameSchema(nameRules.user);

export const webhookNameSchema = createNameSchema(nameRules.webhook);

export const channelNameSchema = createNameSchema(nameRules.channel);

export const workflowNameSchema = createNameSchema(nameRules.workflow);

/** `global`, `review`, or `review:pr-123` for one run of a workflow. */
export const agencyIdSchema = createNameSchema(nameRules.agency);

/** An agency in a path or a target: `review`, or `review@bob` for one of another user. */
export const agencyRefSchema = createNameSchema(nameRules.agencyRef);

export const scriptNameSchema = createNameSchema(nameRules.script);

export const modelIdSchema = z
  .string()
  .max(200)
  .regex(/^[a-z0-9][a-z0-9-]*:[\x21-\x7e]+$/, "expected provider:model, for example anthropic:claude-sonnet-4-5");

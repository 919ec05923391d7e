import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { agentNameSchema, webhookNameSchema } from "../name-schemas.ts";
import { isAgencyKey } from "../names.ts";
import { routes } from "../routes.ts";
import { createdWebhookSchema, newWebhookSchema, webhookListSchema, webhookReceiptSchema } from "../webhook.ts";
import { agentParams } from "./turns.ts";

const webhookParams = agentParams.extend({ name: webhookNameSchema });

/** Nobody is logged in here, so the path also says whose agency it is. */
const deliveryParams = z.object({
  agency: z.string().max(200).refine(isAgencyKey, "expected an agency, as `review` or `review@user`"),
  agent: agentNameSchema,
  name: webhookNameSchema,
});

/** Endpoints for what arrives from outside, signed with a secret of its own. */
export const webhookEndpoints = {
  listWebhooks: defineEndpoint({
    ...routes.listWebhooks,
    access: "read",
    summary: "List an agent's webhooks, without their secrets.",
    params: agentParams,
    response: webhookListSchema,
  }),
  createWebhook: defineEndpoint({
    ...routes.createWebhook,
    access: "admin",
    excludesMembers: true,
    summary:
      "Create a webhook. Its secret is shown only once; anyone who has it can start turns without a token, hence the scope.",
    params: agentParams,
    body: newWebhookSchema,
    status: 201,
    response: createdWebhookSchema,
  }),
  deleteWebhook: defineEndpoint({
    ...routes.deleteWebhook,
    access: "admin",
    summary: "Delete a webhook. Its secret is worthless at once, and calls that wait for it go on.",
    params: webhookParams,
    status: 204,
  }),
  receiveWebhook: defineEndpoint({
    ...routes.receiveWebhook,
    access: "public",
    summary:
      "Deliver to a webhook: resumes the oldest call that waits for it (200), or starts a turn (202). No token, but `X-Thinkery-Signature: t=<unix seconds>,v1=<hex HMAC-SHA256 of “t.body” with the secret>`, at most 5 minutes old, each once. The same `Idempotency-Key` within 24 hours is the same delivery.",
    params: deliveryParams,
    rawBody: true,
    status: 202,
    response: webhookReceiptSchema,
  }),
} as const;

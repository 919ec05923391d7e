import { z } from "zod";
import { webhookNameSchema } from "./name-schemas.ts";
import { nextSchema } from "./page.ts";

export const newWebhookSchema = z.strictObject({ name: webhookNameSchema }).meta({ id: "NewWebhook" });

export type NewWebhook = z.infer<typeof newWebhookSchema>;

export const webhookSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    url: z.string().meta({ description: "The path on this host that deliveries are sent to." }),
    createdAt: z.string(),
    createdBy: z.string(),
    lastDeliveryAt: z.string().optional(),
  })
  .meta({ id: "Webhook", description: "An address at which an agent receives signed messages from elsewhere." });

export type Webhook = z.infer<typeof webhookSchema>;

export const createdWebhookSchema = webhookSchema
  .extend({ secret: z.string().meta({ description: "The key that deliveries are signed with. Shown only once." }) })
  .meta({ id: "CreatedWebhook" });

export type CreatedWebhook = z.infer<typeof createdWebhookSchema>;

export const webhookListSchema = z.object({ hooks: z.array(webhookSchema), next: nextSchema });

export const webhookReceiptSchema = z
  .object({
    status: z
      .enum(["resumed", "accepted"])
      .meta({ description: "It was what a call waited for (200), or started a turn of its own (202)." }),
    runId: z.string(),
    duplicate: z
      .boolean()
      .optional()
      .meta({ description: "The Idempotency-Key was used before; nothing happened again." }),
  })
  .meta({ id: "WebhookReceipt" });

export type WebhookReceipt = z.infer<typeof webhookReceiptSchema>;

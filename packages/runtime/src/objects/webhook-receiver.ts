import { createHmac } from "node:crypto";
import {
  type AgentAddress,
  type Attachment,
  type CreatedWebhook,
  fail,
  formatAddress,
  ownerUser,
  type Sender,
  type Webhook,
  type WebhookReceipt,
} from "@thinkery/sdk";
import { RateLimiter } from "../host/rate-limiter.ts";
import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import type { StoredContinuation } from "../store/continuations.ts";
import type { StoredWebhook, Webhooks } from "../store/webhooks.ts";
import type { TurnQueue } from "../turn/admission/turn-queue.ts";
import type { TurnWaits } from "../turn/admission/turn-waits.ts";
import type { Env } from "./env.ts";
import type { Registration } from "./registration.ts";
import type { TurnLease } from "./turn-lease.ts";
import { formatWebhookMessage, parseWebhookContent, type WebhookContent } from "./webhook-content.ts";
import {
  isTimely,
  maxSignatureAgeSeconds,
  verifyWebhookSignature,
  type WebhookSignature,
} from "./webhook-signature.ts";

/** A request to a webhook, from anybody. */
export interface WebhookRequest {
  name: string;
  signature: WebhookSignature;
  body: Uint8Array;
  contentType?: string | undefined;
  /** The sender's idempotency key. */
  key?: string | undefined;
  /** Where it came from. */
  context: Record<string, string>;
}

interface WebhookReceiverOptions {
  env: Pick<Env, "SIGNING_KEY" | "User">;
  address: AgentAddress;
  registration: Registration;
  webhooks: Webhooks;
  store: AgentStore;
  blobs: Blobs;
  queue: TurnQueue;
  turnWaits: TurnWaits;
  turnLease: TurnLease;
}

/** A verified request. */
interface Delivery {
  webhook: StoredWebhook;
  /** The right signature in hex. */
  signature: string;
  timestamp: number;
  key: string | undefined;
  content: WebhookContent;
  /** The content, if it is too long to be part of an event. */
  attachment: Attachment | undefined;
  context: Record<string, string>;
}

const maxWebhooks = 100;
const maxPerMinute = 600;
const maxBurst = 120;
const keyLifetimeMs = 24 * 3600 * 1000;
const maxInlineChars = 50_000;
const maxPreviewChars = 30_000;

/** Receives what is sent to an agent's webhooks: it resumes the call that waits for it, or starts a turn. */
export class WebhookReceiver {
  readonly #options: WebhookReceiverOptions;
  readonly #rates = new Map<string, RateLimiter>();

  constructor(options: WebhookReceiverOptions) {
    this.#options = options;
  }

  /** Whether there is a webhook with this name, or any at all. */
  has(name?: string): boolean {
    const { webhooks } = this.#options;
    return name === undefined ? webhooks.list().length > 0 : webhooks.find(name) !== undefined;
  }

  list(): Webhook[] {
    return this.#options.webhooks.list().map((webhook) => this.#toWebhook(webhook));
  }

  create(name: string, createdBy: string): CreatedWebhook {
    const { webhooks } = this.#options;
    const existing = webhooks.list();
    if (existing.some((webhook) => webhook.name === name)) {
      throw fail("conflict", `The webhook “${name}” already exists. To get another secret, delete it first.`);
    }
    if (existing.length >= maxWebhooks) {
      throw fail("conflict", `An agent has at most ${maxWebhooks} webhooks. Delete one that is not used.`);
    }
    const webhook = { name, salt: crypto.randomUUID(), createdAt: Date.now(), createdBy, lastDeliveryAt: undefined };
    webhooks.add(webhook);
    return { ...this.#toWebhook(webhook), secret: this.#deriveSecret(webhook) };
  }

  /** Deletes a webhook. Calls that wait for it go on: nothing can arrive any more. */
  async remove(name: string): Promise<void> {
    const { webhooks, turnWaits, turnLease } = this.#options;
    if (!this.has(name)) throw fail("not_found", `The agent has no webhook “${name}”.`);
    webhooks.remove(name);
    this.#rates.delete(name);
    const waiting = this.#listWaiting(name);
    if (waiting.length === 0) return;
    await turnLease.acquireFor(async () => {
      for (const continuation of waiting) turnWaits.resolveContinuation(continuation, { removed: true });
    });
  }

  /** Returns undefined if there is no such webhook, or the signature is wrong, too old or already used. */
  async receive(request: WebhookRequest): Promise<WebhookReceipt | undefined> {
    const { webhooks, turnLease } = this.#options;
    const { name, key, context, body } = request;
    const { timestamp } = request.signature;
    const webhook = webhooks.find(name);
    // Computed for unknown names too, so that these do not stand out by their speed.
    const secret = this.#deriveSecret(webhook ?? { name, salt: "" });
    const signature = verifyWebhookSignature(request.signature, body, secret);
    if (!webhook || !signature || webhooks.isUsed(signature) || !isTimely(request.signature, Date.now())) {
      return undefined;
    }
    if (key !== undefined && (key === "" || key.length > 200)) {
      throw fail("bad_request", "Invalid Idempotency-Key: expected 1 to 200 characters.");
    }
    await this.#checkRate(name);
    const content = parseWebhookContent(body, request.contentType);
    const attachment = await this.#storeLong(content, body);
    return turnLease.acquireFor(async () =>
      this.#accept({ webhook, signature, timestamp, key, content, attachment, context }),
    );
  }

  /**
   * Synchronous, and thus one transaction: a crash leaves both the effect and the used signature, or neither. If it is
   * refused, for example because the agent is stopped, the signature stays good.
   */
  #accept(delivery: Delivery): WebhookReceipt | undefined {
    const { webhooks } = this.#options;
    const { webhook, signature, timestamp, key } = delivery;
    // The same request may have come twice, or the webhook may have been deleted meanwhile.
    if (webhooks.isUsed(signature) || webhooks.find(webhook.name)?.salt !== webhook.salt) return undefined;
    const known = key === undefined ? undefined : webhooks.findByKey(webhook.name, key);
    const receipt = known ?? this.#resume(delivery) ?? this.#admit(delivery);
    const now = Date.now();
    const isNewKey = key !== undefined && !known;
    // Twice the time, for a clock that is set back a little.
    const usableUntil = (timestamp + 2 * maxSignatureAgeSeconds) * 1000;
    const forgetAt = Math.max(usableUntil, isNewKey ? now + keyLifetimeMs : 0);
    const record = { signature, webhook: webhook.name, key: isNewKey ? key : undefined, forgetAt };
    webhooks.addDelivery(record, receipt, now);
    return known ? { ...known, duplicate: true } : receipt;
  }

  #resume({ webhook, content, attachment }: Delivery): WebhookReceipt | undefined {
    const [continuation] = this.#listWaiting(webhook.name);
    if (!continuation) return undefined;
    const { body, contentType, bytes, text } = content;
    const value = attachment
      ? { contentType, bytes, preview: text.slice(0, maxPreviewChars).toWellFormed(), blob: attachment.blob }
      : { contentType, body };
    this.#options.turnWaits.resolveContinuation(continuation, value, { attachment });
    return { status: "resumed", runId: continuation.runId };
  }

  #admit({ webhook, signature, key, content, attachment, context }: Delivery): WebhookReceipt {
    const { queue, registration } = this.#options;
    const from: Sender = { user: registration.get().agent.owner, context: { ...context, webhook: webhook.name } };
    const { runId } = queue.admit({
      key: `webhook:${webhook.name}:${webhook.salt}:${key ?? signature}`,
      messages: [
        {
          id: crypto.randomUUID(),
          role: "user",
          content: formatWebhookMessage(webhook.name, content, attachment !== undefined),
          ...(attachment ? { attachments: [attachment] } : {}),
        },
      ],
      mode: "queue",
      from,
    });
    return { status: "accepted", runId };
  }

  /** Returns the calls that wait for a webhook, oldest first. */
  #listWaiting(name: string): StoredContinuation[] {
    const open = this.#options.store.continuations.listOpen();
    return open.filter(({ kind, hook }) => kind === "webhook" && hook === name);
  }

  async #checkRate(name: string): Promise<void> {
    const limiter = this.#rates.get(name) ?? new RateLimiter(maxBurst, maxPerMinute / 60);
    this.#rates.set(name, limiter);
    if (!limiter.take(1)) {
      const message = `This webhook has received more than ${maxPerMinute} requests a minute. Try again in 1 s.`;
      throw fail("rate_limited", message, { retryAfter: 1 });
    }
    const { env, address, registration } = this.#options;
    const { owner } = registration.get().agent;
    if (owner === ownerUser) return;
    await env.User.getByName(owner).limits.takeRequest(`webhook ${formatAddress(address)}/${name}`);
  }

  async #storeLong({ text, body, contentType }: WebhookContent, bytes: Uint8Array): Promise<Attachment | undefined> {
    if (text.length <= maxInlineChars && JSON.stringify(body).length <= 2 * maxInlineChars) return undefined;
    const isJson = typeof body !== "string" && contentType.endsWith("json");
    const mediaType = isJson ? "application/json" : "text/plain";
    return { blob: await this.#options.blobs.put(bytes), mediaType, size: bytes.length, name: "webhook body" };
  }

  /** Derived, so that no database has it. */
  #deriveSecret({ name, salt }: Pick<StoredWebhook, "name" | "salt">): string {
    const { address, env } = this.#options;
    const source = ["webhook", formatAddress(address), name, salt].join("\n");
    return `whsec_${createHmac("sha256", env.SIGNING_KEY).update(source).digest("base64url")}`;
  }

  #toWebhook({ name, createdAt, createdBy, lastDeliveryAt }: StoredWebhook): Webhook {
    const { agency, path } = this.#options.address;
    return {
      id: name,
      name,
      url: `/agency/${agency}/agent/${path[0]}/hooks/${name}`,
      createdAt: new Date(createdAt).toISOString(),
      createdBy,
      ...(lastDeliveryAt === undefined ? {} : { lastDeliveryAt: new Date(lastDeliveryAt).toISOString() }),
    };
  }
}

import type { CreatedWebhook, Webhook, WebhookReceipt } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { WebhookReceiver, WebhookRequest } from "./webhook-receiver.ts";

/** The webhooks of one agent. */
export class WebhooksApi extends RpcTarget {
  readonly #open: () => Promise<WebhookReceiver>;

  constructor(open: () => Promise<WebhookReceiver>) {
    super();
    this.#open = open;
  }

  async list(): Promise<Webhook[]> {
    return (await this.#open()).list();
  }

  async create(name: string, by: string): Promise<CreatedWebhook> {
    return (await this.#open()).create(name, by);
  }

  async remove(name: string): Promise<void> {
    await (await this.#open()).remove(name);
  }

  /** Called for requests without a caller. Returns undefined unless the request is properly signed. */
  async receive(request: WebhookRequest): Promise<WebhookReceipt | undefined> {
    return (await this.#open()).receive(request);
  }
}

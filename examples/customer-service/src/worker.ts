import { Think as Base } from "@thinkery/runtime";
import type { ModelRoles, Tool } from "@thinkery/sdk";
import { Shop } from "./shop.ts";
import { checkInventory } from "./tools/check-inventory.ts";
import { lookupOrder } from "./tools/lookup-order.ts";
import { refundOrder } from "./tools/refund-order.ts";

export { Agency, handler as default, Supervision, User } from "@thinkery/runtime";

/** An agent that represents the shop and has its tools. */
export class Think extends Base {
  #shop: Shop | undefined;

  protected override getAdditionalInstructions(): string {
    return [
      "You help customers of the Lantern Shop, which sells lamps.",
      "Look up an order before you talk about it, and never guess its contents.",
      "The shop decides on refunds: if the tool rejects one, explain why and offer what the shop can do.",
    ].join("\n");
  }

  protected override getCustomTools(): readonly Tool[] {
    this.#shop ??= new Shop(this.ctx.storage.sql);
    return [lookupOrder(this.#shop), refundOrder(this.#shop), checkInventory(this.#shop)];
  }

  /** Uses the host's default model if an API key is set, and a script otherwise. */
  protected override getModelConfig(): Partial<ModelRoles> {
    return this.env.PROVIDERS.length > 0 ? {} : { primary: "scripted:support" };
  }
}

import { Think as Base } from "@thinkery/runtime";
import type { ModelRoles, Tool } from "@thinkery/sdk";
import { Shop } from "./shop.ts";
import { checkInventory } from "./tools/check-inventory.ts";
import { lookupOrder } from "./tools/lookup-order.ts";
import { refundOrder } from "./tools/refund-order.ts";

export { Agency, handler as default, Supervision, User } from "@thinkery/runtime";

/** Whoever is an agent here speaks for the shop, and has its tools. */
export class Think extends Base {
  #shop: Shop | undefined;

  protected override getAdditionalInstructions(): string {
    return [
      "You answer customers of the Lantern Shop, which sells lamps.",
      "Look an order up before you speak of it, and never guess what is in it.",
      "Refunds are the shop's decision: if the tool refuses one, say why, and offer what the shop can do.",
    ].join("\n");
  }

  protected override getCustomTools(): readonly Tool[] {
    this.#shop ??= new Shop(this.ctx.storage.sql);
    return [lookupOrder(this.#shop), refundOrder(this.#shop), checkInventory(this.#shop)];
  }

  /** With a key of some provider the host's own choice holds; without one, a script plays. */
  protected override getModelConfig(): Partial<ModelRoles> {
    return this.env.PROVIDERS.length > 0 ? {} : { primary: "scripted:support" };
  }
}

import { defineTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";
import type { Shop } from "../shop.ts";

export const checkInventory = (shop: Shop): Tool =>
  defineTool(
    {
      name: "checkInventory",
      description: "How many of an article are in stock.",
      inputSchema: z.object({ sku: z.string().min(1).max(40) }),
      action: "check the inventory",
      idempotent: true,
      // Nothing is changed, so several may be asked for at once.
      parallel: true,
    },
    ({ sku }) => shop.inventory(sku),
  );

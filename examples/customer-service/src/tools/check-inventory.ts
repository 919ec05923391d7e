import { defineTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";
import type { Shop } from "../shop.ts";

export const checkInventory = (shop: Shop): Tool =>
  defineTool(
    {
      name: "checkInventory",
      description: "Check how many units of a product are in stock.",
      inputSchema: z.object({ sku: z.string().min(1).max(40) }),
      action: "check the inventory",
      idempotent: true,
      // Read-only, so several calls can run at once.
      parallel: true,
    },
    ({ sku }) => shop.checkInventory(sku),
  );

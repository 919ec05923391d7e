import { defineTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";
import type { Shop } from "../shop.ts";

export const lookupOrder = (shop: Shop): Tool =>
  defineTool(
    {
      name: "lookupOrder",
      description: "Look up an order by the number on the receipt: its items, total and status.",
      inputSchema: z.object({ id: z.string().min(1).max(20) }),
      action: "look up an order",
      // Safe to repeat.
      idempotent: true,
    },
    ({ id }) => shop.lookUp(id),
  );

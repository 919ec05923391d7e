import { defineTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";
import type { Shop } from "../shop.ts";

export const refundOrder = (shop: Shop): Tool =>
  defineTool(
    {
      name: "refundOrder",
      description: "Refund an order. Only for delivered orders that have been looked up.",
      inputSchema: z.object({ id: z.string().min(1).max(20), reason: z.string().min(1).max(500) }),
      action: "refund an order",
      // The shop recognizes a repeated call by its id, so a retry after a crash does not pay twice.
      idempotent: true,
    },
    ({ id, reason }, { callId }) => shop.refund(id, reason, callId),
  );

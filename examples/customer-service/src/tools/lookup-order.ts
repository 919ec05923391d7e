import { defineTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";
import type { Shop } from "../shop.ts";

export const lookupOrder = (shop: Shop): Tool =>
  defineTool(
    {
      name: "lookupOrder",
      description: "Find an order by the number on the receipt: what is in it, what it cost, where it is.",
      inputSchema: z.object({ id: z.string().min(1).max(20) }),
      action: "look up an order",
      // Looking twice does no harm.
      idempotent: true,
    },
    ({ id }) => shop.lookUp(id),
  );

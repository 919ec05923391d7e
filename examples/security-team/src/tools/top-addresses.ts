import { defineTool } from "@thinkery/sdk";
import { z } from "zod";
import { accessLog } from "../access-log.ts";

export const topAddresses = defineTool(
  {
    name: "topAddresses",
    description: "List the addresses with the most requests in the access log.",
    inputSchema: z.object({ limit: z.int().min(1).max(20).default(3) }),
    action: "count addresses",
    idempotent: true,
    parallel: true,
  },
  ({ limit }) => {
    const counts = new Map<string, number>();
    for (const { ip } of accessLog) counts.set(ip, (counts.get(ip) ?? 0) + 1);
    const sorted = [...counts].sort(([, a], [, b]) => b - a);
    return { addresses: sorted.slice(0, limit).map(([ip, requests]) => ({ ip, requests })) };
  },
);

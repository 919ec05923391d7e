import { defineTool } from "@thinkery/sdk";
import { z } from "zod";
import { accessLog } from "../access-log.ts";

export const requestsFrom = defineTool(
  {
    name: "requestsFrom",
    description: "What one address asked for, in order.",
    inputSchema: z.object({ ip: z.ipv4() }),
    action: "read the access log",
    idempotent: true,
    parallel: true,
  },
  ({ ip }) => {
    const lines = accessLog.filter((line) => line.ip === ip);
    if (lines.length === 0) throw new Error(`Nothing in the log comes from ${ip}. topAddresses says who was there.`);
    return { lines };
  },
);

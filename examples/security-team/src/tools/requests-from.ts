import { defineTool } from "@thinkery/sdk";
import { z } from "zod";
import { accessLog } from "../access-log.ts";

export const requestsFrom = defineTool(
  {
    name: "requestsFrom",
    description: "List the requests of one address, in order.",
    inputSchema: z.object({ ip: z.ipv4() }),
    action: "read the access log",
    idempotent: true,
    parallel: true,
  },
  ({ ip }) => {
    const lines = accessLog.filter((line) => line.ip === ip);
    if (lines.length === 0) throw new Error(`No requests from ${ip} in the log. Use topAddresses to list addresses.`);
    return { lines };
  },
);

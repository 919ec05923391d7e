import { defineTool } from "@thinkery/sdk";
import { z } from "zod";
import { accessLog } from "../access-log.ts";

export const failedLogins = defineTool(
  {
    name: "failedLogins",
    description: "Addresses that failed to log in at least so many times, and the users they tried.",
    inputSchema: z.object({ atLeast: z.int().min(1).default(3) }),
    action: "find failed logins",
    idempotent: true,
    parallel: true,
  },
  ({ atLeast }) => {
    const tried = new Map<string, string[]>();
    for (const { ip, user, path, status } of accessLog) {
      if (path === "/login" && status === 401) tried.set(ip, [...(tried.get(ip) ?? []), user]);
    }
    return {
      suspects: [...tried].filter(([, users]) => users.length >= atLeast).map(([ip, users]) => ({ ip, users })),
    };
  },
);

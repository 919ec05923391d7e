import { defineTool } from "@thinkery/sdk";
import { z } from "zod";
import { accessLog } from "../access-log.ts";

export const failedLogins = defineTool(
  {
    name: "failedLogins",
    description: "Find addresses with at least `atLeast` failed logins, and the users they tried.",
    inputSchema: z.object({ atLeast: z.int().min(1).default(3) }),
    action: "find failed logins",
    idempotent: true,
    parallel: true,
  },
  ({ atLeast }) => {
    const usersByIp = new Map<string, string[]>();
    for (const { ip, user, path, status } of accessLog) {
      if (path === "/login" && status === 401) usersByIp.set(ip, [...(usersByIp.get(ip) ?? []), user]);
    }
    return {
      suspects: [...usersByIp].filter(([, users]) => users.length >= atLeast).map(([ip, users]) => ({ ip, users })),
    };
  },
);

import { fail } from "@thinkery/sdk";
import type { HostStatus, SlotRenewal } from "@thinkery/sdk/internal";
import type { FoundScript, ScriptFolders } from "../scripts/folders.ts";
import { isSameSecret, type Route } from "./serve.ts";

interface HostControls {
  status(): HostStatus;
  stop(): void;
  renewSlot(index: number, generation: number, lost: boolean): Promise<SlotRenewal>;
}

/** Routes that the daemon serves to main. Only main's configuration contains the key. */
export function createHostRoutes(
  key: string,
  host: HostControls,
  scripts: ScriptFolders,
  otherRoutes: Route[] = [],
): Route[] {
  const routes: Route[] = [
    { method: "GET", path: "/status", handle: () => ({ body: host.status() }) },
    {
      method: "POST",
      path: "/shutdown",
      handle: () => ({ status: 202, body: { status: "stopping" }, after: host.stop }),
    },
    { method: "GET", path: "/scripts", handle: async () => ({ body: { scripts: await scripts.listNames() } }) },
    {
      method: "GET",
      path: "/script",
      handle: async ({ query }) => ({ body: await findScript(scripts, query.get("name") ?? "") }),
    },
    {
      method: "POST",
      path: "/slots/renew",
      handle: async ({ query }) => ({
        body: await host.renewSlot(
          parseInteger(query, "index"),
          parseInteger(query, "generation"),
          query.get("lost") === "1",
        ),
      }),
    },
    ...otherRoutes,
  ];
  return routes.map((route) => ({
    ...route,
    isAllowed: (headers) => isSameSecret(headers["x-thinkery-host-key"], key),
  }));
}

async function findScript(scripts: ScriptFolders, name: string): Promise<FoundScript> {
  const found = await scripts.find(name);
  if (!found) throw fail("not_found", `There is no script “${name}”.`);
  return found;
}

function parseInteger(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? "";
  if (!/^(?:-1|\d{1,9})$/.test(text)) throw fail("bad_request", `“${name}” must be an integer.`);
  return Number(text);
}

import { fail } from "@thinkery/sdk";
import type { HostStatus, SlotRenewal } from "@thinkery/sdk/internal";
import type { FoundScript, ScriptFolders } from "../scripts/folders.ts";
import { sameSecret, type Route } from "./serve.ts";

interface Asked {
  status(): HostStatus;
  stop(): void;
  renewSlot(index: number, generation: number, lost: boolean): Promise<SlotRenewal>;
}

/** What main may ask of the daemon; its config holds the key, and nothing else does. */
export function hostServices(key: string, host: Asked, scripts: ScriptFolders, others: Route[] = []): Route[] {
  const routes: Route[] = [
    { method: "GET", path: "/status", answer: () => ({ body: host.status() }) },
    { method: "POST", path: "/shutdown", answer: () => ({ status: 202, body: { status: "stopping" }, after: host.stop }) },
    { method: "GET", path: "/scripts", answer: async () => ({ body: { scripts: await scripts.names() } }) },
    { method: "GET", path: "/script", answer: async ({ query }) => ({ body: await script(scripts, query.get("name") ?? "") }) },
    {
      method: "POST",
      path: "/slots/renew",
      answer: async ({ query }) => ({
        body: await host.renewSlot(whole(query, "index"), whole(query, "generation"), query.get("lost") === "1"),
      }),
    },
    ...others,
  ];
  return routes.map((route) => ({ ...route, allow: (headers) => sameSecret(headers["x-thinkery-host-key"], key) }));
}

async function script(scripts: ScriptFolders, name: string): Promise<FoundScript> {
  const found = await scripts.find(name);
  if (!found) throw fail("not_found", "There is no script of that name.");
  return found;
}

function whole(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? "";
  if (!/^(?:-1|\d{1,9})$/.test(text)) throw fail("bad_request", `“${name}” must be a whole number.`);
  return Number(text);
}

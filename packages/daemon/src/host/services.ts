import { fail, type HostStatus } from "@thinkery/sdk";
import type { FoundScript, ScriptFolders } from "../scripts/folders.ts";
import { sameSecret, type Route } from "./serve.ts";

/** What main may ask of the daemon; its config holds the key, and nothing else does. */
export function hostServices(key: string, host: { status(): HostStatus; stop(): void }, scripts: ScriptFolders): Route[] {
  const routes: Route[] = [
    { method: "GET", path: "/status", answer: () => ({ body: host.status() }) },
    { method: "POST", path: "/shutdown", answer: () => ({ status: 202, body: { status: "stopping" }, after: host.stop }) },
    { method: "GET", path: "/scripts", answer: async () => ({ body: { scripts: await scripts.names() } }) },
    { method: "GET", path: "/script", answer: async ({ query }) => ({ body: await script(scripts, query.get("name") ?? "") }) },
  ];
  return routes.map((route) => ({ ...route, allow: (headers) => sameSecret(headers["x-thinkery-host-key"], key) }));
}

async function script(scripts: ScriptFolders, name: string): Promise<FoundScript> {
  const found = await scripts.find(name);
  if (!found) throw fail("not_found", "There is no script of that name.");
  return found;
}

import type { HostStatus } from "@thinkery/sdk";
import { sameSecret, type Route } from "./serve.ts";

/** What main may ask of the daemon; its config holds the key, and nothing else does. */
export function hostServices(key: string, host: { status(): HostStatus; stop(): void }): Route[] {
  const routes: Route[] = [
    { method: "GET", path: "/status", answer: () => ({ body: host.status() }) },
    { method: "POST", path: "/shutdown", answer: () => ({ status: 202, body: { status: "stopping" }, after: host.stop }) },
  ];
  return routes.map((route) => ({ ...route, allow: (headers) => sameSecret(headers["x-thinkery-host-key"], key) }));
}

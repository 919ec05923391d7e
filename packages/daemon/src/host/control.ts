import { createHmac } from "node:crypto";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import type { HostStatus } from "@thinkery/sdk/internal";
import type { Home } from "../home/home.ts";
import { isSameSecret, type Route } from "./serve.ts";

/** How a host identifies itself to CLI commands. */
export interface HostIntroduction {
  pid: number;
  host: string;
  port: number;
  startedAt: string;
  version: string;
  /** The file that main runs in place of the stock Worker. */
  worker?: string;
  /** False while the host starts or stops. */
  ready: boolean;
}

export function getControlSocket(home: Home): string {
  return join(home.run, "control.sock");
}

/** Proves knowledge of the admin token without revealing it. */
export function createProof(token: string, nonce: string, pid: number): string {
  return createHmac("sha256", token).update(`${nonce}:${pid}`).digest("hex");
}

/** Routes for CLI commands on this machine; available even if main does not respond. */
export function createControlRoutes(
  token: string,
  host: { introduce(): HostIntroduction; status(): HostStatus; stop(): void },
): Route[] {
  const isAllowed: Route["isAllowed"] = (headers) => isSameSecret(headers.authorization, `Bearer ${token}`);
  return [
    {
      method: "GET",
      path: "/prove",
      handle({ query }) {
        const nonce = query.get("nonce") ?? "";
        if (!/^[0-9a-f]{32,128}$/.test(nonce)) throw fail("bad_request", "The nonce must be 32 to 128 hex digits.");
        const introduction = host.introduce();
        return { body: { ...introduction, proof: createProof(token, nonce, introduction.pid) } };
      },
    },
    { method: "GET", path: "/status", isAllowed, handle: () => ({ body: host.status() }) },
    {
      method: "POST",
      path: "/stop",
      isAllowed,
      handle: () => ({ status: 202, body: { status: "stopping" }, after: host.stop }),
    },
  ];
}

import { createHmac } from "node:crypto";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import type { HostStatus } from "@thinkery/sdk/internal";
import type { Home } from "../home/home.ts";
import { isSameSecret, type Route } from "./serve.ts";

/** How a host introduces itself to a command. */
export interface HostIntroduction {
  pid: number;
  host: string;
  port: number;
  startedAt: string;
  version: string;
  /** The file that main runs in place of the stock Worker. */
  worker?: string;
  /** False while it starts or stops. */
  ready: boolean;
}

export function getControlSocket(home: Home): string {
  return join(home.run, "control.sock");
}

/** Shows that whoever answers knows the admin token, without telling it. */
export function createProof(token: string, nonce: string, pid: number): string {
  return createHmac("sha256", token).update(`${nonce}:${pid}`).digest("hex");
}

/** What commands on this machine may ask of the host, even when main does not answer. */
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

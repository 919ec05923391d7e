import type { Service } from "./host.ts";

export interface OutboundEnv {
  /** Reaches private and local addresses too. Absent on Cloudflare. */
  MODELS?: Service;
  /** Origins on this machine or its network that the host's owner allows tools to call. */
  TOOL_ORIGINS?: string[];
}

export type Outbound = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Opens network access for tools. Public addresses only: an agent's tools must not reach the machine it runs on, except
 * for the origins that the host's owner allows.
 */
export function openOutbound({ MODELS, TOOL_ORIGINS = [] }: OutboundEnv): Outbound {
  return (url, init) => {
    // A redirect could lead to any address.
    const request = { ...init, redirect: "manual" } as const;
    return MODELS && TOOL_ORIGINS.includes(new URL(url).origin) ? MODELS.fetch(url, request) : fetch(url, request);
  };
}

import type { Service } from "./host.ts";

export interface OutboundEnv {
  /** Reaches private and local addresses too. Absent on Cloudflare. */
  MODELS?: Service;
  /** Origins on this machine or its network that the host's owner allows tools to call. */
  TOOL_ORIGINS?: string[];
}

export type Outbound = (url: string, init: RequestInit) => Promise<Response>;

/**
 * The door to the network for tools. Public addresses only: what an agent is given must not reach the machine it runs
 * on, but for the origins that its owner named.
 */
export function openOutbound({ MODELS, TOOL_ORIGINS = [] }: OutboundEnv): Outbound {
  return (url, init) => {
    // A redirect could lead anywhere.
    const request = { ...init, redirect: "manual" } as const;
    return MODELS && TOOL_ORIGINS.includes(new URL(url).origin) ? MODELS.fetch(url, request) : fetch(url, request);
  };
}

import type { Caller } from "./caller.ts";
import type { EndpointFetch, HostFetch } from "./request.ts";

/** How handles send requests to their host. */
export interface Transport {
  fetchEndpoint: EndpointFetch;
  fetchHost: HostFetch;
  call: Caller["call"];
  retryTimeoutMs: number;
}

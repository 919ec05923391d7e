import type { ResponseOf } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import { fail } from "../protocol/errors.ts";
import { type Arguments, type EndpointFetch, createEndpointFetch, type RequestOptions } from "./request.ts";

/** Calls the endpoints of a host, and does nothing else. For pages that have to be small. */
export interface Caller {
  /**
   * Calls an endpoint by name and returns the parsed response. Throws a `ThinkeryError` if the request fails.
   *
   * ```ts
   * const agent = await client.call("getAgent", { params: { agency: "global", agent: "alice" } });
   * ```
   */
  call<Name extends keyof Endpoints>(
    name: Name,
    ...input: Arguments<Endpoints[Name]>
  ): Promise<ResponseOf<Endpoints[Name]>>;
}

/** Creates a `Caller`. Use `createClient` unless every kilobyte counts. */
export function createCaller(options: RequestOptions): Caller {
  return toCaller(createEndpointFetch(options));
}

async function parseBody(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SyntaxError) throw fail("internal", "The host’s response is not valid JSON.");
    throw fail("unavailable", "The host’s response was cut off.");
  }
}

export function toCaller(fetchEndpoint: EndpointFetch): Caller {
  return {
    async call(name, ...[input]) {
      const response = await fetchEndpoint(name, input ?? {}, "application/json");
      return (response.status === 204 ? undefined : await parseBody(response, input?.signal)) as never;
    },
  };
}

import type { ResponseOf } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import { fail } from "../protocol/errors.ts";
import { type Arguments, type EndpointFetch, createEndpointFetch, type RequestOptions } from "./request.ts";

/** The host by its endpoints, and nothing more: for a page that has to be small. */
export interface Caller {
  /** Calls one endpoint by its name: `client.call("getAgent", { params: { agency: "global", agent: "alice" } })`. */
  call<Name extends keyof Endpoints>(
    name: Name,
    ...input: Arguments<Endpoints[Name]>
  ): Promise<ResponseOf<Endpoints[Name]>>;
}

export function createCaller(options: RequestOptions): Caller {
  return toCaller(createEndpointFetch(options));
}

async function readValue(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SyntaxError) throw fail("internal", "The host answered something that is not JSON.");
    throw fail("unavailable", "The host’s answer was cut off.");
  }
}

export function toCaller(ask: EndpointFetch): Caller {
  return {
    async call(name, ...[input]) {
      const response = await ask(name, input ?? {}, "application/json");
      return (response.status === 204 ? undefined : await readValue(response, input?.signal)) as never;
    },
  };
}

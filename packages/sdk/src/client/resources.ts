import type { Resource, NewResource } from "../protocol/resource.ts";
import { routes } from "../protocol/routes.ts";
import { readBytes, sendRequest, transferTimeoutMs } from "./file-requests.ts";
import { fillPath } from "./request.ts";
import type { Transport } from "./transport.ts";
import { withRetry } from "./with-retry.ts";

/** The resources of an agency: large contents that never change, by the SHA-256 of each. */
export interface AgencyResources {
  /** Iterates over all resources, loading pages as needed. */
  list(): AsyncGenerator<Resource>;
  /** Stores a content. The same content again is the same resource. */
  create(resource: Pick<NewResource, "content"> & Partial<NewResource>): Promise<Resource>;
  read(id: string): Promise<{ bytes: Uint8Array; type: string }>;
}

export function createResources({ call, fetchHost, retryTimeoutMs }: Transport, agency: string): AgencyResources {
  const params = { agency };
  return {
    async *list() {
      let after: string | undefined;
      do {
        const query = { limit: 500, ...(after === undefined ? {} : { after }) };
        const { resources, next } = await withRetry((signal) => call("listResources", { params, query, signal }), {
          retryTimeoutMs,
        });
        yield* resources;
        after = next;
      } while (after !== undefined);
    },
    create: (body) =>
      withRetry((signal) => call("createResource", { params, body, signal }), {
        retryTimeoutMs,
        attemptTimeoutMs: transferTimeoutMs,
      }),
    read: (hash) =>
      withRetry(
        async (signal) => {
          const url = fillPath(routes.readResource.path, { ...params, hash });
          const response = await sendRequest(fetchHost, url, { signal });
          const type = response.headers.get("content-type") ?? "application/octet-stream";
          return { bytes: await readBytes(response, signal), type };
        },
        { retryTimeoutMs, attemptTimeoutMs: transferTimeoutMs },
      ),
  };
}

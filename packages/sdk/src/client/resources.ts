import type { QueryIn, ResponseOf } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import type { Resource } from "../protocol/resource.ts";
import { routes } from "../protocol/routes.ts";
import { readBytes, sendRequest } from "./file-requests.ts";
import { fillPath } from "./request.ts";
import type { Transport } from "./transport.ts";
import { withRetry } from "./with-retry.ts";

/** The content of a resource. */
export interface OpenResource {
  type: string;
  bytes: Uint8Array;
  /** Decodes the content as UTF-8. */
  text(): string;
}

/** Large contents that the members of an agency share. They never change, and their id is the hash of the content. */
export interface Resources {
  /** Returns a page of resources, newest first. Pass `next` as `after` for the next page. */
  list(query?: QueryIn<Endpoints["listResources"]>): Promise<ResponseOf<Endpoints["listResources"]>>;
  /** Stores a content. The same content again is the same resource. */
  create(content: string | Uint8Array, options?: { type?: string }): Promise<Resource>;
  read(id: string): Promise<OpenResource>;
}

/** Timeout for requests that may transfer megabytes. */
const transferTimeoutMs = 120_000;

export function createResources(
  { call, fetchHost, retryTimeoutMs }: Pick<Transport, "call" | "fetchHost" | "retryTimeoutMs">,
  agency: string,
): Resources {
  const params = { agency };
  const retry = <T>(request: (signal: AbortSignal) => Promise<T>) =>
    withRetry(request, { retryTimeoutMs, attemptTimeoutMs: transferTimeoutMs });
  return {
    list: (query = {}) => retry((signal) => call("listResources", { params, query, signal })),
    create(content, { type } = {}) {
      const body = {
        ...(typeof content === "string"
          ? { content, encoding: "text" as const }
          : { content: toBase64(content), encoding: "base64" as const }),
        ...(type === undefined ? {} : { type }),
      };
      return retry((signal) => call("createResource", { params, body, signal }));
    },
    read(id) {
      const url = fillPath(routes.readResource.path, { ...params, hash: id });
      return retry(async (signal) => {
        const response = await sendRequest(fetchHost, url, { signal });
        const bytes = await readBytes(response, signal);
        return {
          type: response.headers.get("content-type") ?? "",
          bytes,
          text: () => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
        };
      });
    },
  };
}

const maxChunkBytes = 0x8000;

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += maxChunkBytes)
    binary += String.fromCharCode(...bytes.subarray(at, at + maxChunkBytes));
  return btoa(binary);
}

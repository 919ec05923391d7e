import { fail } from "../protocol/errors.ts";
import { parseFilePath } from "../protocol/file-path.ts";
import type { FileInfo } from "../protocol/file.ts";
import { type HostFetch, toError, toQueryString } from "./request.ts";
import { withRetry } from "./with-retry.ts";

/** A file with its content. */
export interface OpenFile extends FileInfo {
  bytes: Uint8Array;
  /** Decodes the content as UTF-8. */
  text(): string;
}

/** Timeout for requests that may transfer megabytes. */
export const transferTimeoutMs = 120_000;

interface FileRequestOptions {
  fetchHost: HostFetch;
  retryTimeoutMs: number;
  /** The path of the endpoint that lists the files. */
  root: string;
}

/** The requests for single files of a workspace. Their bodies are bytes, so `call` cannot send them. */
export function createFileRequests({ fetchHost, retryTimeoutMs, root }: FileRequestOptions) {
  const retry = <T>(request: (signal: AbortSignal) => Promise<T>) =>
    withRetry(request, { retryTimeoutMs, attemptTimeoutMs: transferTimeoutMs });

  return {
    async read(path: string, query: object): Promise<OpenFile> {
      const url = toRequestPath(root, path) + toQueryString(query);
      return retry(async (signal) => {
        const response = await sendRequest(fetchHost, url, { signal });
        return toOpenFile(path, response, await readBytes(response, signal));
      });
    },

    async put(
      path: string,
      content: string | Uint8Array,
      { query, ifMatch, isNew }: { query?: object; ifMatch?: string | undefined; isNew?: boolean | undefined },
    ): Promise<FileInfo> {
      const url = toRequestPath(root, path) + toQueryString(query);
      const headers = { "content-type": "application/octet-stream", ...toConditionHeaders(ifMatch, isNew) };
      const put = async (signal?: AbortSignal) =>
        (await (
          await sendRequest(fetchHost, url, {
            method: "PUT",
            headers,
            body: content as RequestInit["body"],
            ...(signal ? { signal } : {}),
          })
        ).json()) as FileInfo;
      // A retry would fail because of the file that the first attempt created.
      return isNew ? put() : retry(put);
    },

    async delete(path: string, query: object, ifMatch: string | undefined): Promise<void> {
      const url = toRequestPath(root, path) + toQueryString(query);
      await sendRequest(fetchHost, url, { method: "DELETE", headers: toConditionHeaders(ifMatch) });
    },
  };
}

/** Throws if the status is not a success. */
export async function sendRequest(fetchHost: HostFetch, url: string, init: RequestInit): Promise<Response> {
  const response = await fetchHost(url, init);
  if (!response.ok) throw await toError(response);
  return response;
}

export async function readBytes(response: Response, signal: AbortSignal): Promise<Uint8Array> {
  try {
    return new Uint8Array(await response.arrayBuffer());
  } catch {
    signal.throwIfAborted();
    throw fail("unavailable", "The host’s response was cut off.");
  }
}

function toConditionHeaders(ifMatch: string | undefined, isNew = false): Record<string, string> {
  return {
    ...(ifMatch === undefined ? {} : { "if-match": ifMatch === "*" ? "*" : `"${ifMatch}"` }),
    ...(isNew ? { "if-none-match": "*" } : {}),
  };
}

/**
 * Returns the URL path of a file. Validates the path: with enough dots, it could lead elsewhere and take the token
 * along.
 */
function toRequestPath(root: string, path: string): string {
  return `${root}/${parseFilePath(path).split("/").map(encodeURIComponent).join("/")}`;
}

function toOpenFile(path: string, { headers }: Response, bytes: Uint8Array): OpenFile {
  const getHeader = (name: string) => headers.get(name) ?? "";
  return {
    path: parseFilePath(path),
    kind: getHeader("x-thinkery-kind") === "text" ? "text" : "binary",
    size: bytes.byteLength,
    mediaType: getHeader("content-type").split(";")[0] ?? "",
    hash: getHeader("etag").replaceAll('"', ""),
    version: Number(getHeader("x-thinkery-version")),
    modifiedAt: new Date(getHeader("last-modified")).toISOString(),
    bytes,
    text: () => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
  };
}

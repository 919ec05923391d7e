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

/** Selects a file of another branch, or of an earlier version. */
export interface FilePlace {
  branch?: string;
  version?: number;
}

export interface PutOptions {
  branch?: string;
  /** Writes only if the file has this hash. Otherwise throws `precondition_failed` with the current hash. */
  ifMatch?: string;
  /** Writes only if the file does not exist. */
  isNew?: boolean;
}

export interface DeleteOptions {
  branch?: string;
  /** Deletes only if the file has this hash. */
  ifMatch?: string;
  /** Deletes a folder with everything in it. */
  recursive?: boolean;
}

interface FilePage {
  files: FileInfo[];
  version: number;
  next?: string | undefined;
}

/** Requests for files by their paths: those of an agent, or the documents of an agency. */
export interface FileRequests {
  read(path: string, place?: FilePlace): Promise<OpenFile>;
  put(path: string, content: string | Uint8Array, options?: PutOptions): Promise<FileInfo>;
  delete(path: string, options?: DeleteOptions): Promise<void>;
}

/** Timeout for requests that may transfer megabytes. */
const transferTimeoutMs = 120_000;

/** Iterates over all files as of one version, loading pages as needed. */
export async function* iterateFiles<Query extends { version?: number }>(
  fetchPage: (query: Query & { limit: number; after?: string }) => Promise<FilePage>,
  query: Query,
): AsyncGenerator<FileInfo> {
  let after: string | undefined;
  do {
    const page = await fetchPage({ ...query, limit: 500, ...(after === undefined ? {} : { after }) });
    // All pages show the same version.
    if (page.next !== undefined && page.version > 0) query = { ...query, version: query.version ?? page.version };
    yield* page.files;
    after = page.next;
  } while (after !== undefined);
}

/** Sends a request and throws the error that the host responds with. */
export async function sendRequest(fetchHost: HostFetch, url: string, init: RequestInit): Promise<Response> {
  const response = await fetchHost(url, init);
  if (!response.ok) throw await toError(response);
  return response;
}

/** `root` is the URL path below which the files are. */
export function createFileRequests(
  { fetchHost, retryTimeoutMs }: { fetchHost: HostFetch; retryTimeoutMs: number },
  root: string,
): FileRequests {
  const retry = <T>(request: (signal: AbortSignal) => Promise<T>) =>
    withRetry(request, { retryTimeoutMs, attemptTimeoutMs: transferTimeoutMs });

  return {
    async read(path, place = {}) {
      const url = toRequestPath(root, path) + toQueryString(place);
      return retry(async (signal) => {
        const response = await sendRequest(fetchHost, url, { signal });
        return toOpenFile(path, response, await readBytes(response, signal));
      });
    },

    async put(path, content, { branch, ifMatch, isNew } = {}) {
      const url = toRequestPath(root, path) + toQueryString({ branch });
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

    async delete(path, { branch, ifMatch, recursive } = {}) {
      const query = toQueryString({ branch, recursive: recursive ? "1" : undefined });
      await sendRequest(fetchHost, toRequestPath(root, path) + query, {
        method: "DELETE",
        headers: toConditionHeaders(ifMatch),
      });
    },
  };
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

export async function readBytes(response: Response, signal: AbortSignal): Promise<Uint8Array> {
  try {
    return new Uint8Array(await response.arrayBuffer());
  } catch {
    signal.throwIfAborted();
    throw fail("unavailable", "The host’s response was cut off.");
  }
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

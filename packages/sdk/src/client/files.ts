import type { ResponseOf, BodyIn, QueryIn } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import { fail } from "../protocol/errors.ts";
import { parseFilePath } from "../protocol/file-path.ts";
import type { FileInfo } from "../protocol/file.ts";
import { routes } from "../protocol/routes.ts";
import type { Caller } from "./caller.ts";
import { toError, fillPath, toQueryString, type HostFetch } from "./request.ts";
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

/** The workspace of an agent: its files, versions and branches. */
export interface AgentFiles {
  /** Returns a page of files, sorted by path. Pass `next` as `after` for the next page. */
  files(query?: QueryIn<Endpoints["listFiles"]>): Promise<ResponseOf<Endpoints["listFiles"]>>;
  /** Iterates over all files as of one version, loading pages as needed. */
  allFiles(query?: { branch?: string; version?: number; under?: string }): AsyncGenerator<FileInfo>;
  /** Reads a file. */
  file(path: string, place?: FilePlace): Promise<OpenFile>;
  putFile(path: string, content: string | Uint8Array, options?: PutOptions): Promise<FileInfo>;
  deleteFile(path: string, options?: DeleteOptions): Promise<void>;
  /** Makes several changes as one version. With `base`, they are merged with what changed since that version. */
  editFiles(
    edits: BodyIn<Endpoints["editFiles"]>["edits"],
    options?: { base?: number; branch?: string },
  ): Promise<ResponseOf<Endpoints["editFiles"]>>;
  /** Downloads all files as a zip. */
  archive(query?: QueryIn<Endpoints["getArchive"]>): Promise<ReadableStream<Uint8Array>>;
  /** Writes all files of a zip as one version. With `replace`, files that are not in the zip are deleted. */
  putArchive(
    zip: Uint8Array | Blob,
    options?: { branch?: string; replace?: boolean },
  ): Promise<ResponseOf<Endpoints["putArchive"]>>;
  /** Returns a page of versions, newest first. */
  versions(query?: QueryIn<Endpoints["listVersions"]>): Promise<ResponseOf<Endpoints["listVersions"]>>;
  /** Returns a version with its diffs. */
  version(id: number, query?: QueryIn<Endpoints["getVersion"]>): Promise<ResponseOf<Endpoints["getVersion"]>>;
  /** Reverts a version, or everything that a turn or a tool call changed: `revert({ turn: "…" })`. */
  revert(options: BodyIn<Endpoints["revert"]>): Promise<ResponseOf<Endpoints["revert"]>>;
  branches(): Promise<ResponseOf<Endpoints["listBranches"]>["branches"]>;
  createBranch(branch?: BodyIn<Endpoints["createBranch"]>): Promise<ResponseOf<Endpoints["createBranch"]>>;
  deleteBranch(name: string): Promise<void>;
  mergeBranch(name: string, options?: BodyIn<Endpoints["mergeBranch"]>): Promise<ResponseOf<Endpoints["mergeBranch"]>>;
}

/** Timeout for requests that may transfer megabytes. */
const transferTimeoutMs = 120_000;

export function createAgentFiles(
  { call, fetchHost, retryTimeoutMs }: { call: Caller["call"]; fetchHost: HostFetch; retryTimeoutMs: number },
  params: { agency: string; agent: string },
): AgentFiles {
  const retry = <T>(request: (signal: AbortSignal) => Promise<T>, attemptTimeoutMs?: number) =>
    withRetry(request, { retryTimeoutMs, ...(attemptTimeoutMs ? { attemptTimeoutMs } : {}) });
  const root = fillPath(routes.listFiles.path, params);
  const archive = fillPath(routes.getArchive.path, params);
  const fetchPage = (query: QueryIn<Endpoints["listFiles"]>) =>
    retry((signal) => call("listFiles", { params, query, signal }));

  return {
    files: (query = {}) => fetchPage(query),

    async *allFiles(query = {}) {
      let after: string | undefined;
      do {
        const { files, version, next } = await fetchPage({
          ...query,
          limit: 500,
          ...(after === undefined ? {} : { after }),
        });
        // All pages show the same version.
        if (next !== undefined && version > 0) query = { ...query, version: query.version ?? version };
        yield* files;
        after = next;
      } while (after !== undefined);
    },

    async file(path, place = {}) {
      const url = toRequestPath(root, path) + toQueryString(place);
      return retry(async (signal) => {
        const response = await sendRequest(url, { signal });
        return toOpenFile(path, response, await readBytes(response, signal));
      }, transferTimeoutMs);
    },

    async putFile(path, content, { branch, ifMatch, isNew } = {}) {
      const url = toRequestPath(root, path) + toQueryString({ branch });
      const headers = { "content-type": "application/octet-stream", ...toConditionHeaders(ifMatch, isNew) };
      const put = async (signal?: AbortSignal) =>
        (await (
          await sendRequest(url, {
            method: "PUT",
            headers,
            body: content as RequestInit["body"],
            ...(signal ? { signal } : {}),
          })
        ).json()) as FileInfo;
      // A retry would fail because of the file that the first attempt created.
      return isNew ? put() : retry(put, transferTimeoutMs);
    },

    async deleteFile(path, { branch, ifMatch, recursive } = {}) {
      const query = toQueryString({ branch, recursive: recursive ? "1" : undefined });
      await sendRequest(toRequestPath(root, path) + query, { method: "DELETE", headers: toConditionHeaders(ifMatch) });
    },

    editFiles: (edits, { base, branch } = {}) =>
      call("editFiles", {
        params,
        query: branch === undefined ? {} : { branch },
        body: { edits, ...(base === undefined ? {} : { base }) },
      }),

    async archive(query = {}) {
      const { body } = await sendRequest(archive + toQueryString(query), {});
      return body ?? new Blob([]).stream();
    },

    async putArchive(zip, { branch, replace } = {}) {
      const headers = { "content-type": "application/zip" };
      const response = await sendRequest(archive + toQueryString({ branch, replace: replace ? "1" : undefined }), {
        method: "PUT",
        headers,
        body: zip as RequestInit["body"],
      });
      return (await response.json()) as ResponseOf<Endpoints["putArchive"]>;
    },

    versions: (query = {}) => retry((signal) => call("listVersions", { params, query, signal })),
    version: (id, query = {}) =>
      retry((signal) => call("getVersion", { params: { ...params, version: String(id) }, query, signal })),
    revert: (options) => call("revert", { params, body: options }),
    branches: async () => (await retry((signal) => call("listBranches", { params, signal }))).branches,
    createBranch: (branch = {}) => call("createBranch", { params, body: branch }),
    deleteBranch: (name) => call("deleteBranch", { params: { ...params, branch: name } }),
    mergeBranch: (name, options = {}) => call("mergeBranch", { params: { ...params, branch: name }, body: options }),
  };

  async function sendRequest(url: string, init: RequestInit): Promise<Response> {
    const response = await fetchHost(url, init);
    if (!response.ok) throw await toError(response);
    return response;
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

async function readBytes(response: Response, signal: AbortSignal): Promise<Uint8Array> {
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

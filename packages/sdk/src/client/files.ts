import type { ResponseOf, BodyIn, QueryIn } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import type { FileInfo } from "../protocol/file.ts";
import { routes } from "../protocol/routes.ts";
import type { Caller } from "./caller.ts";
import {
  createFileRequests,
  type DeleteOptions,
  type FilePlace,
  iterateFiles,
  type OpenFile,
  type PutOptions,
  sendRequest,
} from "./file-requests.ts";
import { fillPath, toQueryString, type HostFetch } from "./request.ts";
import { withRetry } from "./with-retry.ts";

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

export function createAgentFiles(
  { call, fetchHost, retryTimeoutMs }: { call: Caller["call"]; fetchHost: HostFetch; retryTimeoutMs: number },
  params: { agency: string; agent: string },
): AgentFiles {
  const retry = <T>(request: (signal: AbortSignal) => Promise<T>) => withRetry(request, { retryTimeoutMs });
  const requests = createFileRequests({ fetchHost, retryTimeoutMs }, fillPath(routes.listFiles.path, params));
  const archive = fillPath(routes.getArchive.path, params);
  const fetchPage = (query: QueryIn<Endpoints["listFiles"]>) =>
    retry((signal) => call("listFiles", { params, query, signal }));

  return {
    files: (query = {}) => fetchPage(query),

    allFiles: (query = {}) => iterateFiles(fetchPage, query),

    file: requests.read,
    putFile: requests.put,
    deleteFile: requests.delete,

    editFiles: (edits, { base, branch } = {}) =>
      call("editFiles", {
        params,
        query: branch === undefined ? {} : { branch },
        body: { edits, ...(base === undefined ? {} : { base }) },
      }),

    async archive(query = {}) {
      const { body } = await sendRequest(fetchHost, archive + toQueryString(query), {});
      return body ?? new Blob([]).stream();
    },

    async putArchive(zip, { branch, replace } = {}) {
      const headers = { "content-type": "application/zip" };
      const response = await sendRequest(
        fetchHost,
        archive + toQueryString({ branch, replace: replace ? "1" : undefined }),
        {
          method: "PUT",
          headers,
          body: zip as RequestInit["body"],
        },
      );
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
}

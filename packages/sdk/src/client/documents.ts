import type { BodyIn, QueryIn, ResponseOf } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import type { FileInfo } from "../protocol/file.ts";
import { routes } from "../protocol/routes.ts";
import {
  createFileRequests,
  type DeleteOptions,
  type FilePlace,
  iterateFiles,
  type OpenFile,
  type PutOptions,
} from "./file-requests.ts";
import { fillPath } from "./request.ts";
import type { Transport } from "./transport.ts";
import { withRetry } from "./with-retry.ts";

/** The documents that the members of an agency share. They are files with versions, but without branches. */
export interface Documents {
  /** Returns a page of documents, sorted by path. Pass `next` as `after` for the next page. */
  list(query?: QueryIn<Endpoints["listDocuments"]>): Promise<ResponseOf<Endpoints["listDocuments"]>>;
  /** Iterates over all documents as of one version, loading pages as needed. */
  all(query?: { version?: number; under?: string }): AsyncGenerator<FileInfo>;
  read(path: string, place?: Pick<FilePlace, "version">): Promise<OpenFile>;
  write(path: string, content: string | Uint8Array, options?: Omit<PutOptions, "branch">): Promise<FileInfo>;
  delete(path: string, options?: Omit<DeleteOptions, "branch">): Promise<void>;
  /** Makes several changes as one version. With `base`, they are merged with what changed since that version. */
  edit(
    edits: BodyIn<Endpoints["editDocuments"]>["edits"],
    options?: { base?: number },
  ): Promise<ResponseOf<Endpoints["editDocuments"]>>;
  /** Returns a page of versions, newest first. */
  versions(query?: QueryIn<Endpoints["listDocumentVersions"]>): Promise<ResponseOf<Endpoints["listDocumentVersions"]>>;
  /** Returns a version with its diffs. */
  version(
    id: number,
    query?: QueryIn<Endpoints["getDocumentVersion"]>,
  ): Promise<ResponseOf<Endpoints["getDocumentVersion"]>>;
  /** Reverts a version, or everything that a turn or a tool call changed: `revert({ turn: "…" })`. */
  revert(options: BodyIn<Endpoints["revertDocuments"]>): Promise<ResponseOf<Endpoints["revertDocuments"]>>;
}

export function createDocuments(
  { call, fetchHost, retryTimeoutMs }: Pick<Transport, "call" | "fetchHost" | "retryTimeoutMs">,
  agency: string,
): Documents {
  const params = { agency };
  const retry = <T>(request: (signal: AbortSignal) => Promise<T>) => withRetry(request, { retryTimeoutMs });
  const requests = createFileRequests({ fetchHost, retryTimeoutMs }, fillPath(routes.listDocuments.path, params));
  const fetchPage = (query: QueryIn<Endpoints["listDocuments"]>) =>
    retry((signal) => call("listDocuments", { params, query, signal }));
  return {
    list: (query = {}) => fetchPage(query),
    all: (query = {}) => iterateFiles(fetchPage, query),
    read: requests.read,
    write: requests.put,
    delete: requests.delete,
    edit: (edits, { base } = {}) =>
      call("editDocuments", { params, body: { edits, ...(base === undefined ? {} : { base }) } }),
    versions: (query = {}) => retry((signal) => call("listDocumentVersions", { params, query, signal })),
    version: (id, query = {}) =>
      retry((signal) => call("getDocumentVersion", { params: { ...params, version: String(id) }, query, signal })),
    revert: (options) => call("revertDocuments", { params, body: options }),
  };
}

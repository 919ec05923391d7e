import type { BodyIn, QueryIn, ResponseOf } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import type { FileInfo } from "../protocol/file.ts";
import { routes } from "../protocol/routes.ts";
import { createFileRequests, type OpenFile } from "./file-requests.ts";
import { fillPath } from "./request.ts";
import type { Transport } from "./transport.ts";
import { withRetry } from "./with-retry.ts";

/** The documents that the members of an agency share, by their paths. They have versions, as files have. */
export interface AgencyDocuments {
  /** Iterates over all documents as of one version, loading pages as needed. */
  list(query?: { under?: string; version?: number }): AsyncGenerator<FileInfo>;
  read(path: string, place?: { version?: number }): Promise<OpenFile>;
  /**
   * Writes a document. With `ifMatch`, only if it has this hash; otherwise throws `precondition_failed` with the current
   * one.
   */
  put(
    path: string,
    content: string | Uint8Array,
    options?: { ifMatch?: string | undefined; isNew?: boolean | undefined },
  ): Promise<FileInfo>;
  /** Deletes a document, or with `recursive` a folder of them. */
  delete(path: string, options?: { ifMatch?: string | undefined; recursive?: boolean | undefined }): Promise<void>;
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
  /** Reverts a version, or everything that a turn or a tool call changed. */
  revert(options: BodyIn<Endpoints["revertDocuments"]>): Promise<ResponseOf<Endpoints["revertDocuments"]>>;
}

export function createDocuments({ call, fetchHost, retryTimeoutMs }: Transport, agency: string): AgencyDocuments {
  const params = { agency };
  const retry = <T>(request: (signal: AbortSignal) => Promise<T>) => withRetry(request, { retryTimeoutMs });
  const root = fillPath(routes.listDocuments.path, params);
  type Page = ResponseOf<Endpoints["listDocuments"]>;
  const fetchPage = (query: QueryIn<Endpoints["listDocuments"]>): Promise<Page> =>
    retry((signal) => call("listDocuments", { params, query, signal }));
  const requests = createFileRequests({ fetchHost, retryTimeoutMs, root });

  return {
    async *list(query = {}) {
      let after: string | undefined;
      do {
        const { files, version, next }: Page = await fetchPage({
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
    read: (path, place = {}) => requests.read(path, place),
    put: (path, content, options = {}) => requests.put(path, content, options),
    delete: (path, { ifMatch, recursive } = {}) =>
      requests.delete(path, { recursive: recursive ? "1" : undefined }, ifMatch),
    edit: (edits, { base } = {}) =>
      call("editDocuments", { params, body: { edits, ...(base === undefined ? {} : { base }) } }),
    versions: (query = {}) => retry((signal) => call("listDocumentVersions", { params, query, signal })),
    version: (id, query = {}) =>
      retry((signal) => call("getDocumentVersion", { params: { ...params, version: String(id) }, query, signal })),
    revert: (options) => call("revertDocuments", { params, body: options }),
  };
}

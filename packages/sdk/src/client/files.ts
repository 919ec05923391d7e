import type { ResponseOf, BodyIn, QueryIn } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import { fail } from "../protocol/errors.ts";
import { parseFilePath } from "../protocol/file-path.ts";
import type { FileInfo } from "../protocol/file.ts";
import { routes } from "../protocol/routes.ts";
import type { Caller } from "./caller.ts";
import { toError, fillPath, toQueryString, type HostFetch } from "./request.ts";
import { withRetry } from "./with-retry.ts";

/** A file with what is in it. */
export interface OpenFile extends FileInfo {
  bytes: Uint8Array;
  text(): string;
}

/** Which file is meant: of another branch, or as it was. */
export interface FilePlace {
  branch?: string;
  version?: number;
}

export interface PutOptions {
  branch?: string;
  /** Only if the file has this hash now; a `precondition_failed` with the one it has is thrown otherwise. */
  ifMatch?: string;
  /** Only if there is no such file. */
  isNew?: boolean;
}

export interface DeleteOptions {
  branch?: string;
  ifMatch?: string;
  /** A folder, with all that is in it. */
  recursive?: boolean;
}

/** The files of one agent, and everything they ever were. */
export interface AgentFiles {
  /** A page of its files, by path; `next` goes back in as `after`. */
  files(query?: QueryIn<Endpoints["listFiles"]>): Promise<ResponseOf<Endpoints["listFiles"]>>;
  /** All of them, however many pages that takes. */
  allFiles(query?: { branch?: string; version?: number; under?: string }): AsyncGenerator<FileInfo>;
  /** One file, and what is in it. */
  file(path: string, place?: FilePlace): Promise<OpenFile>;
  putFile(path: string, content: string | Uint8Array, options?: PutOptions): Promise<FileInfo>;
  deleteFile(path: string, options?: DeleteOptions): Promise<void>;
  /** Several changes as one version. With `base`, what was changed since that version is merged. */
  editFiles(
    edits: BodyIn<Endpoints["editFiles"]>["edits"],
    options?: { base?: number; branch?: string },
  ): Promise<ResponseOf<Endpoints["editFiles"]>>;
  /** All files as a zip. */
  archive(query?: QueryIn<Endpoints["getArchive"]>): Promise<ReadableStream<Uint8Array>>;
  /** Writes all files of a zip as one version; with `replace`, those that are not in it are deleted. */
  putArchive(
    zip: Uint8Array | Blob,
    options?: { branch?: string; replace?: boolean },
  ): Promise<ResponseOf<Endpoints["putArchive"]>>;
  /** Who changed what, the newest first. */
  versions(query?: QueryIn<Endpoints["listVersions"]>): Promise<ResponseOf<Endpoints["listVersions"]>>;
  /** One version with its differences. */
  version(id: number, query?: QueryIn<Endpoints["getVersion"]>): Promise<ResponseOf<Endpoints["getVersion"]>>;
  /** Takes back a version, a turn or a tool call: `revert({ turn: "…" })`. */
  revert(order: BodyIn<Endpoints["revert"]>): Promise<ResponseOf<Endpoints["revert"]>>;
  branches(): Promise<ResponseOf<Endpoints["listBranches"]>["branches"]>;
  createBranch(branch?: BodyIn<Endpoints["createBranch"]>): Promise<ResponseOf<Endpoints["createBranch"]>>;
  deleteBranch(name: string): Promise<void>;
  mergeBranch(name: string, order?: BodyIn<Endpoints["mergeBranch"]>): Promise<ResponseOf<Endpoints["mergeBranch"]>>;
}

/** So long megabytes may take. */
const longAttemptMs = 120_000;

export function createAgentFiles(
  { call, send, retryTimeoutMs }: { call: Caller["call"]; send: HostFetch; retryTimeoutMs: number },
  params: { agency: string; agent: string },
): AgentFiles {
  const retry = <T>(question: (signal: AbortSignal) => Promise<T>, attempt?: number) =>
    withRetry(question, { retryTimeoutMs, ...(attempt ? { attemptTimeoutMs: attempt } : {}) });
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
        // A list that is long is still a list of one moment.
        if (next !== undefined && version > 0) query = { ...query, version: query.version ?? version };
        yield* files;
        after = next;
      } while (after !== undefined);
    },

    async file(path, place = {}) {
      const address = toRequestPath(root, path) + toQueryString(place);
      return retry(async (signal) => {
        const answer = await sendRequest(address, { signal });
        return toOpenFile(path, answer, await readBytes(answer, signal));
      }, longAttemptMs);
    },

    async putFile(path, content, { branch, ifMatch, isNew } = {}) {
      const address = toRequestPath(root, path) + toQueryString({ branch });
      const headers = { "content-type": "application/octet-stream", ...toConditionHeaders(ifMatch, isNew) };
      const put = async (signal?: AbortSignal) =>
        (await (
          await sendRequest(address, {
            method: "PUT",
            headers,
            body: content as RequestInit["body"],
            ...(signal ? { signal } : {}),
          })
        ).json()) as FileInfo;
      // Asked twice, a file that must not be there would be there the second time.
      return isNew ? put() : retry(put, longAttemptMs);
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
      const answer = await sendRequest(archive + toQueryString({ branch, replace: replace ? "1" : undefined }), {
        method: "PUT",
        headers,
        body: zip as RequestInit["body"],
      });
      return (await answer.json()) as ResponseOf<Endpoints["putArchive"]>;
    },

    versions: (query = {}) => retry((signal) => call("listVersions", { params, query, signal })),
    version: (id, query = {}) =>
      retry((signal) => call("getVersion", { params: { ...params, version: String(id) }, query, signal })),
    revert: (order) => call("revert", { params, body: order }),
    branches: async () => (await retry((signal) => call("listBranches", { params, signal }))).branches,
    createBranch: (branch = {}) => call("createBranch", { params, body: branch }),
    deleteBranch: (name) => call("deleteBranch", { params: { ...params, branch: name } }),
    mergeBranch: (name, order = {}) => call("mergeBranch", { params: { ...params, branch: name }, body: order }),
  };

  async function sendRequest(address: string, init: RequestInit): Promise<Response> {
    const answer = await send(address, init);
    if (!answer.ok) throw await toError(answer);
    return answer;
  }
}

function toConditionHeaders(ifMatch: string | undefined, isNew = false): Record<string, string> {
  return {
    ...(ifMatch === undefined ? {} : { "if-match": ifMatch === "*" ? "*" : `"${ifMatch}"` }),
    ...(isNew ? { "if-none-match": "*" } : {}),
  };
}

/** Where a file is. What is no path is not asked for: with dots enough in it, it would lead elsewhere, and the token with it. */
function toRequestPath(root: string, path: string): string {
  return `${root}/${parseFilePath(path).split("/").map(encodeURIComponent).join("/")}`;
}

async function readBytes(answer: Response, signal: AbortSignal): Promise<Uint8Array> {
  try {
    return new Uint8Array(await answer.arrayBuffer());
  } catch {
    signal.throwIfAborted();
    throw fail("unavailable", "The host’s answer was cut off.");
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

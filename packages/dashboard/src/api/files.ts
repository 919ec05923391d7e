import { type Branch, errorFromBody, fail, type FileInfo, parseFilePath, type Version } from "@thinkery/sdk";
import { call } from "./host.ts";
import { createSource, type Source } from "./source.ts";

/** Whose files are meant, and on which branch if not on main. */
export interface Workspace {
  agency: string;
  agent: string;
  branch?: string | undefined;
}

export interface Listing {
  files: FileInfo[];
  version: number;
  /** There are more than we asked for. */
  more: boolean;
}

const pageSize = 500;
const maxPages = 20;

export function createListingSource({ branch, ...params }: Workspace): Source<Listing> {
  const here = branch === undefined ? {} : { branch };
  let known: Listing | undefined;
  return createSource(async () => {
    // A list of many pages is not read again where nothing is other than it was.
    if (
      known &&
      known.files.length > pageSize &&
      known.version === (await call("listFiles", { params, query: { ...here, limit: 1 } })).version
    )
      return known;
    const files: FileInfo[] = [];
    let query: { limit: number; branch?: string; after?: string; version?: number } = { ...here, limit: pageSize };
    for (let page = 0; ; page++) {
      const { files: some, version, next } = await call("listFiles", { params, query });
      files.push(...some);
      if (next === undefined || page === maxPages) return (known = { files, version, more: next !== undefined });
      // However many pages it has, it is a list of one moment.
      query = { ...query, after: next, ...(version > 0 && { version }) };
    }
  });
}

export interface VersionsQuery {
  path?: string | undefined;
  turn?: string | undefined;
  before?: number | undefined;
}

export async function listVersions({ branch, ...params }: Workspace, { path, turn, before }: VersionsQuery = {}) {
  const query = {
    limit: 50,
    ...(branch && { branch }),
    ...(path && { path }),
    ...(turn && { turn }),
    ...(before && { before }),
  };
  return call("listVersions", { params, query });
}

/** The latest versions, whatever they changed. */
export function createLatestSource(workspace: Workspace): Source<Version[]> {
  return createSource(async () => (await listVersions(workspace)).versions);
}

export function createBranchesSource({ agency, agent }: Workspace): Source<Branch[]> {
  return createSource(async () => (await call("listBranches", { params: { agency, agent } })).branches);
}

/** Where a file is on the host. */
export function buildFileUrl(
  workspace: Workspace,
  path: string,
  at: { version?: number | undefined; download?: boolean } = {},
): string {
  const names = parseFilePath(path).split("/").map(encodeURIComponent).join("/");
  return `${buildAgentPath(workspace)}/files/${names}${buildQuery({ branch: workspace.branch, version: at.version, download: at.download ? 1 : undefined })}`;
}

/** All files as a zip, or those of a folder. */
export function buildArchiveUrl(workspace: Workspace, under?: string): string {
  return `${buildAgentPath(workspace)}/archive${buildQuery({ branch: workspace.branch, under })}`;
}

export async function readText(address: string, signal: AbortSignal): Promise<string> {
  const answer = await fetch(address, { signal }).catch(() => {
    signal.throwIfAborted();
    throw fail("unavailable", "The host does not answer.");
  });
  if (!answer.ok)
    throw (
      errorFromBody(await answer.json().catch(() => undefined)) ??
      fail("internal", `The host answered ${answer.status} without saying why.`)
    );
  const isText =
    answer.headers.get("x-thinkery-kind") === "text" || isReadable(answer.headers.get("content-type") ?? "");
  if (!isText) throw fail("unsupported_media", "It is not text. Download it to see what it is.");
  return answer.text();
}

/** May a person read what is of this type? */
export function isReadable(mediaType: string): boolean {
  return /^text\/|^application\/(?:json|javascript|xml|yaml|x-ndjson|sql)\b|\+(?:json|xml)\b/.test(mediaType);
}

/** Makes an empty file; one that is there already is left alone, and that is an error. */
export async function createFile(workspace: Workspace, path: string): Promise<void> {
  await sendFile(buildFileUrl(workspace, path), new Blob([]), { headers: { "if-none-match": "*" } });
}

/** Moves a file, or a folder with all that is in it, as one version. */
export async function moveFile({ branch, ...params }: Workspace, path: string, to: string): Promise<void> {
  await call("editFiles", { params, query: branch ? { branch } : {}, body: { edits: [{ move: path, to }] } });
}

export async function removeFile({ branch, ...params }: Workspace, path: string, recursive: boolean): Promise<void> {
  await call("deleteFile", {
    params: { ...params, path: parseFilePath(path) },
    query: { ...(branch && { branch }), ...(recursive && { recursive: "1" as const }) },
  });
}

interface SendOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal;
  onProgress?(share: number): void;
}

/** Writes a file. `fetch` does not tell how far it is, so this is the older way to ask. */
export function sendFile(
  address: string,
  body: Blob,
  { headers = {}, signal, onProgress }: SendOptions = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", address);
    request.setRequestHeader("content-type", "application/octet-stream");
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress?.(total > 0 ? loaded / total : 0));
    request.addEventListener("load", () => (request.status < 300 ? resolve() : reject(parseError(request))));
    request.addEventListener("error", () =>
      reject(fail("unavailable", "The host does not answer, or ended the upload.")),
    );
    request.addEventListener("abort", () => reject(fail("unavailable", "Canceled.")));
    const abort = () => request.abort();
    signal?.addEventListener("abort", abort);
    request.addEventListener("loadend", () => signal?.removeEventListener("abort", abort));
    request.send(body);
    if (signal?.aborted) abort();
  });
}

function parseError(request: XMLHttpRequest): Error {
  try {
    return errorFromBody(JSON.parse(request.responseText)) ?? fail("internal", `The host answered ${request.status}.`);
  } catch {
    return fail("internal", `The host answered ${request.status} without saying why.`);
  }
}

function buildAgentPath({ agency, agent }: Workspace): string {
  return `/agency/${encodeURIComponent(agency)}/agent/${encodeURIComponent(agent)}`;
}

function buildQuery(query: Record<string, string | number | undefined>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size > 0 ? `?${given}` : "";
}

import { type Branch, errorFromBody, fail, type FileInfo, parseFilePath, type Version } from "@thinkery/sdk";
import { call, fetchFromHost } from "./host.ts";
import { getPageHeaders } from "./page-secret.ts";
import { createSource, type Source } from "./source.ts";
import { buildContentsUrl, buildWorkspaceUrl, getWorkspaceCalls, type Workspace } from "./workspace.ts";

export interface Listing {
  files: FileInfo[];
  version: number;
  /** Whether there are files beyond those listed. */
  more: boolean;
}

const pageSize = 500;
const maxPages = 20;

export function createListingSource(workspace: Workspace): Source<Listing> {
  const { list } = getWorkspaceCalls(workspace);
  let cached: Listing | undefined;
  return createSource(async () => {
    // A list of several pages is only read again if the version has changed.
    if (cached && cached.files.length > pageSize && cached.version === (await list({ limit: 1 })).version)
      return cached;
    const files: FileInfo[] = [];
    let query: { limit: number; after?: string; version?: number } = { limit: pageSize };
    for (let page = 0; ; page++) {
      const { files: pageFiles, version, next } = await list(query);
      files.push(...pageFiles);
      if (next === undefined || page === maxPages) return (cached = { files, version, more: next !== undefined });
      // Later pages ask for the same version so that the list is consistent.
      query = { ...query, after: next, ...(version > 0 && { version }) };
    }
  });
}

export interface VersionsQuery {
  path?: string | undefined;
  turn?: string | undefined;
  before?: number | undefined;
}

export async function listVersions(workspace: Workspace, { path, turn, before }: VersionsQuery = {}) {
  return getWorkspaceCalls(workspace).listVersions({
    limit: 50,
    ...(path && { path }),
    ...(turn && { turn }),
    ...(before && { before }),
  });
}

/** The latest versions of the whole workspace. */
export function createLatestSource(workspace: Workspace): Source<Version[]> {
  return createSource(async () => (await listVersions(workspace)).versions);
}

export function createBranchesSource({ agency, agent }: Workspace): Source<Branch[]> {
  return createSource(async () =>
    agent === undefined ? [] : (await call("listBranches", { params: { agency, agent } })).branches,
  );
}

export function buildFileUrl(
  workspace: Workspace,
  path: string,
  options: { version?: number | undefined; download?: boolean } = {},
): string {
  const names = parseFilePath(path).split("/").map(encodeURIComponent).join("/");
  return `${buildContentsUrl(workspace)}/${names}${buildQuery({ branch: workspace.branch, version: options.version, download: options.download ? 1 : undefined })}`;
}

/** URL of a zip with all files, or with those of a folder. */
export function buildArchiveUrl(workspace: Workspace, under?: string): string {
  return `${buildWorkspaceUrl(workspace)}/archive${buildQuery({ branch: workspace.branch, under })}`;
}

export async function readText(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetchFromHost(url, { signal }).catch(() => {
    signal.throwIfAborted();
    throw fail("unavailable", "The host is not responding.");
  });
  if (!response.ok)
    throw (
      errorFromBody(await response.json().catch(() => undefined)) ??
      fail("internal", `The host responded with status ${response.status}.`)
    );
  const isText =
    response.headers.get("x-thinkery-kind") === "text" || isReadable(response.headers.get("content-type") ?? "");
  if (!isText) throw fail("unsupported_media", "Not a text file. Download it to view it.");
  return response.text();
}

/** Returns whether files of this type can be shown as text. */
export function isReadable(mediaType: string): boolean {
  return /^text\/|^application\/(?:json|javascript|xml|yaml|x-ndjson|sql)\b|\+(?:json|xml)\b/.test(mediaType);
}

/** Creates an empty file. Throws if the file already exists. */
export async function createFile(workspace: Workspace, path: string): Promise<void> {
  await sendFile(buildFileUrl(workspace, path), new Blob([]), { headers: { "if-none-match": "*" } });
}

/** Moves a file, or a folder with its contents, as one version. */
export async function moveFile(workspace: Workspace, path: string, to: string): Promise<void> {
  await getWorkspaceCalls(workspace).edit({ edits: [{ move: path, to }] });
}

export async function removeFile(workspace: Workspace, path: string, recursive: boolean): Promise<void> {
  await getWorkspaceCalls(workspace).remove(parseFilePath(path), recursive);
}

interface SendOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal;
  onProgress?(share: number): void;
}

/** Writes a file. Uses XMLHttpRequest because `fetch` does not report upload progress. */
export function sendFile(
  url: string,
  body: Blob,
  { headers = {}, signal, onProgress }: SendOptions = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", url);
    request.setRequestHeader("content-type", "application/octet-stream");
    for (const [name, value] of Object.entries({ ...getPageHeaders(), ...headers }))
      request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress?.(total > 0 ? loaded / total : 0));
    request.addEventListener("load", () => (request.status < 300 ? resolve() : reject(parseError(request))));
    request.addEventListener("error", () =>
      reject(fail("unavailable", "The host is not responding or closed the connection.")),
    );
    request.addEventListener("abort", () => reject(fail("unavailable", "Canceled")));
    const abort = () => request.abort();
    signal?.addEventListener("abort", abort);
    request.addEventListener("loadend", () => signal?.removeEventListener("abort", abort));
    request.send(body);
    if (signal?.aborted) abort();
  });
}

function parseError(request: XMLHttpRequest): Error {
  try {
    return (
      errorFromBody(JSON.parse(request.responseText)) ??
      fail("internal", `The host responded with status ${request.status}.`)
    );
  } catch {
    return fail("internal", `The host responded with status ${request.status}.`);
  }
}

function buildQuery(query: Record<string, string | number | undefined>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  return params.size > 0 ? `?${params}` : "";
}

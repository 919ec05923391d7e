import type { BodyOf, Endpoints, FileListQuery } from "@thinkery/sdk";
import type { FilesApi } from "../../objects/files-api.ts";
import { toTransfer } from "../../objects/transfer.ts";
import { getMaxFileBytes, getWorkspaceLimits } from "../../workspace/quota.ts";
import { readBytes } from "../body.ts";
import { checkFetchDestination } from "../fetch-destination.ts";
import { toJsonResponse } from "../response.ts";
import type { Call } from "../route.ts";
import { checkWholeBody, readCondition, readFilePath, readRange } from "./request.ts";
import { toFileResponse } from "./response.ts";

// What the routes of an agent's files and of an agency's documents do. Documents have no branches.

type FilesCall = Pick<Call<Endpoints["listFiles"]>, "env" | "request" | "caller">;
type Files<Method extends keyof FilesApi> = Pick<FilesApi, Method>;
type OnBranch = Pick<FileListQuery, "branch">;

export async function editFiles(
  files: Files<"edit">,
  { caller }: FilesCall,
  edits: BodyOf<Endpoints["editFiles"]>,
  at: OnBranch = {},
): Promise<Response> {
  const result = await files.edit(edits, at, caller.user);
  return toJsonResponse(result, result.version ? 201 : 200);
}

export async function readFile(
  files: Files<"read">,
  { request, caller }: FilesCall,
  { download, ...at }: Pick<FileListQuery, "branch" | "version"> & { download?: string | undefined },
): Promise<Response> {
  checkFetchDestination(request, caller, "file");
  const only = request.method === "HEAD" ? "info" : undefined;
  const result = await files.read(readFilePath(request.url), at, {
    condition: readCondition(request),
    range: readRange(request),
    only,
  });
  return toFileResponse(result, { download: download !== undefined });
}

export async function putFile(
  files: Files<"write">,
  { env, request, caller }: FilesCall,
  at: OnBranch = {},
): Promise<Response> {
  const path = readFilePath(request.url);
  const condition = readCondition(request);
  checkWholeBody(request);
  const limits = getWorkspaceLimits(env);
  const bytes = await readBytes(
    request,
    getMaxFileBytes(limits),
    `The file exceeds the limit of ${limits.maxFileMb} MB.`,
  );
  const { file, created } = await files.write(path, toTransfer(bytes), { ...at, ...condition }, caller.user);
  return toJsonResponse(file, created ? 201 : 200, { etag: `"${file.hash}"` });
}

export async function deleteFile(
  files: Files<"delete">,
  { request, caller }: FilesCall,
  { branch, recursive }: OnBranch & { recursive?: string | undefined },
): Promise<undefined> {
  const options = { branch, recursive: recursive !== undefined, ...readCondition(request) };
  await files.delete(readFilePath(request.url), options, caller.user);
}

export async function revertFiles(
  files: Files<"revert">,
  { caller }: FilesCall,
  revert: BodyOf<Endpoints["revert"]>,
): Promise<Response> {
  const reverted = await files.revert(revert, caller.user);
  return toJsonResponse(reverted, reverted.version ? 201 : 200);
}

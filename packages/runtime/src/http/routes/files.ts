import { endpoints, fail } from "@thinkery/sdk";
import type { Hono } from "hono";
import { toTransfer } from "../../objects/transfer.ts";
import { getMaxFileBytes, getWorkspaceLimits } from "../../workspace/quota.ts";
import { readBytes } from "../body.ts";
import { requireAgent } from "../directory.ts";
import { checkFetchDestination } from "../fetch-destination.ts";
import { readCondition, readFilePath, readRange } from "../files/request.ts";
import { toArchiveResponse, toFileResponse } from "../files/response.ts";
import { toJsonResponse } from "../response.ts";
import { type HonoEnv, route } from "../route.ts";

/** Archives are unpacked in memory, which all agents share. */
const maxArchiveMb = 64;

/** The files of an agent's workspace. */
export function addFileRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listFiles, async (call) => (await requireAgent(call)).files.list(call.query));

  route(app, endpoints.editFiles, async (call) => {
    const result = await (await requireAgent(call)).files.edit(call.body, call.query, call.caller.user);
    return toJsonResponse(result, result.version ? 201 : 200);
  });

  route(app, endpoints.readFile, async (call) => {
    const agent = await requireAgent(call);
    checkFetchDestination(call.request, call.caller, "file");
    const { download, ...at } = call.query;
    const only = call.request.method === "HEAD" ? "info" : undefined;
    const result = await agent.files.read(readFilePath(call.request.url), at, {
      condition: readCondition(call.request),
      range: readRange(call.request),
      only,
    });
    return toFileResponse(result, { download: download !== undefined });
  });

  route(app, endpoints.putFile, async (call) => {
    const agent = await requireAgent(call);
    const path = readFilePath(call.request.url);
    const condition = readCondition(call.request);
    checkWholeBody(call.request);
    const limits = getWorkspaceLimits(call.env);
    const bytes = await readBytes(
      call.request,
      getMaxFileBytes(limits),
      `The file exceeds the limit of ${limits.maxFileMb} MB.`,
    );
    const { file, created } = await agent.files.write(
      path,
      toTransfer(bytes),
      { ...call.query, ...condition },
      call.caller.user,
    );
    return toJsonResponse(file, created ? 201 : 200, { etag: `"${file.hash}"` });
  });

  route(app, endpoints.deleteFile, async (call) => {
    const agent = await requireAgent(call);
    const { branch, recursive } = call.query;
    const options = { branch, recursive: recursive !== undefined, ...readCondition(call.request) };
    await agent.files.delete(readFilePath(call.request.url), options, call.caller.user);
    return undefined;
  });

  route(app, endpoints.getArchive, async (call) => {
    const agent = await requireAgent(call);
    checkFetchDestination(call.request, call.caller, "file");
    const archive = await agent.files.readArchive(call.query);
    if (call.request.method === "GET") return toArchiveResponse(archive, call.params.agent, call.query);
    await archive.cancel();
    return toArchiveResponse(null, call.params.agent, call.query);
  });

  route(app, endpoints.putArchive, async (call) => {
    const agent = await requireAgent(call);
    checkWholeBody(call.request);
    const zip = await readBytes(
      call.request,
      maxArchiveMb * 1024 * 1024,
      `The archive exceeds the limit of ${maxArchiveMb} MB.`,
    );
    const options = { branch: call.query.branch, replace: call.query.replace !== undefined };
    return agent.files.writeArchive(toTransfer(zip), options, call.caller.user);
  });
}

/** Rejects partial and encoded bodies: the bytes are stored as sent. */
function checkWholeBody({ headers }: Request): void {
  if (headers.has("content-range")) throw fail("bad_request", "Partial writes are not supported. Send the whole file.");
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity")
    throw fail("unsupported_media", "Content-encoding is not supported. Send the bytes unencoded.");
}

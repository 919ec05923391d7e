import { endpoints, fail } from "@thinkery/sdk";
import type { Hono } from "hono";
import { toTransfer } from "../../objects/transfer.ts";
import { getMaxFileBytes, getWorkspaceLimits } from "../../workspace/quota.ts";
import { readBytes } from "../body.ts";
import { requireAgent as entered } from "../directory.ts";
import { checkFetchDestination } from "../fetch-destination.ts";
import { readCondition } from "../files/condition.ts";
import { readFilePath } from "../files/path.ts";
import { readRange } from "../files/range.ts";
import { toArchiveResponse, toFileResponse } from "../files/response.ts";
import { toJsonResponse } from "../response.ts";
import { type HonoEnv, route } from "../route.ts";

/** A zip is unpacked in memory, which all agents share. */
const maxArchiveMb = 64;

/** The files of an agent's workspace. */
export function addFileRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listFiles, async (call) => (await entered(call)).files.list(call.query));

  route(app, endpoints.editFiles, async (call) => {
    const result = await (await entered(call)).files.edit(call.body, call.query, call.caller.user);
    return toJsonResponse(result, result.version ? 201 : 200);
  });

  route(app, endpoints.readFile, async (call) => {
    const agent = await entered(call);
    checkFetchDestination(call.request, call.caller, "file");
    const { download, ...at } = call.query;
    const only = call.request.method === "HEAD" ? "info" : undefined;
    const read = await agent.files.read(readFilePath(call.request.url), at, {
      condition: readCondition(call.request),
      range: readRange(call.request),
      only,
    });
    return toFileResponse(read, { download: download !== undefined });
  });

  route(app, endpoints.putFile, async (call) => {
    const agent = await entered(call);
    const path = readFilePath(call.request.url);
    const condition = readCondition(call.request);
    checkWholeBody(call.request);
    const limits = getWorkspaceLimits(call.env);
    const bytes = await readBytes(
      call.request,
      getMaxFileBytes(limits),
      `This is larger than a file may be: ${limits.maxFileMb} MB.`,
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
    const agent = await entered(call);
    const { branch, recursive } = call.query;
    const order = { branch, recursive: recursive !== undefined, ...readCondition(call.request) };
    await agent.files.delete(readFilePath(call.request.url), order, call.caller.user);
    return undefined;
  });

  route(app, endpoints.getArchive, async (call) => {
    const agent = await entered(call);
    checkFetchDestination(call.request, call.caller, "file");
    const archive = await agent.files.readArchive(call.query);
    if (call.request.method === "GET") return toArchiveResponse(archive, call.params.agent, call.query);
    await archive.cancel();
    return toArchiveResponse(null, call.params.agent, call.query);
  });

  route(app, endpoints.putArchive, async (call) => {
    const agent = await entered(call);
    checkWholeBody(call.request);
    const zip = await readBytes(
      call.request,
      maxArchiveMb * 1024 * 1024,
      `This zip is larger than one may be: ${maxArchiveMb} MB.`,
    );
    const order = { branch: call.query.branch, replace: call.query.replace !== undefined };
    return agent.files.writeArchive(toTransfer(zip), order, call.caller.user);
  });
}

/** What is sent is what is kept, all of it and as it is. */
function checkWholeBody({ headers }: Request): void {
  if (headers.has("content-range")) throw fail("bad_request", "A part of a file cannot be written; send all of it.");
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity") throw fail("unsupported_media", "Send the bytes as they are, without a content-encoding.");
}

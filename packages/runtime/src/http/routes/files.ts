import { endpoints, fail } from "@thinkery/sdk";
import type { Hono } from "hono";
import { loaded } from "../../objects/cargo.ts";
import { maxFileBytes, workspaceLimitsOf } from "../../workspace/quota.ts";
import { json } from "../answer.ts";
import { readBytes } from "../body.ts";
import { enteredAgent as entered } from "../directory.ts";
import { archiveAnswer, fileAnswer } from "../files/answer.ts";
import { conditionOf } from "../files/condition.ts";
import { pathIn } from "../files/place.ts";
import { rangeIn } from "../files/range.ts";
import { type HonoEnv, route } from "../route.ts";
import { checkUse } from "../use.ts";

/** A zip is unpacked in memory, which all agents share. */
const maxArchiveMb = 64;

/** The files of an agent's workspace. */
export function fileRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listFiles, async (call) => (await entered(call)).files.list(call.query));

  route(app, endpoints.editFiles, async (call) => {
    const landed = await (await entered(call)).files.edit(call.body, call.query, call.caller.user);
    return json(landed, landed.version ? 201 : 200);
  });

  route(app, endpoints.readFile, async (call) => {
    const agent = await entered(call);
    checkUse(call.request, call.caller, "file");
    const { download, ...at } = call.query;
    const only = call.request.method === "HEAD" ? "info" : undefined;
    const read = await agent.files.read(pathIn(call.request.url), at, { condition: conditionOf(call.request), range: rangeIn(call.request), only });
    return fileAnswer(read, { download: download !== undefined });
  });

  route(app, endpoints.putFile, async (call) => {
    const agent = await entered(call);
    const path = pathIn(call.request.url);
    const condition = conditionOf(call.request);
    checkWhole(call.request);
    const limits = workspaceLimitsOf(call.env);
    const bytes = await readBytes(call.request, maxFileBytes(limits), `This is larger than a file may be: ${limits.fileMb} MB.`);
    const { file, created } = await agent.files.write(path, loaded(bytes), { ...call.query, ...condition }, call.caller.user);
    return json(file, created ? 201 : 200, { etag: `"${file.hash}"` });
  });

  route(app, endpoints.deleteFile, async (call) => {
    const agent = await entered(call);
    const { branch, recursive } = call.query;
    const order = { branch, recursive: recursive !== undefined, ...conditionOf(call.request) };
    await agent.files.delete(pathIn(call.request.url), order, call.caller.user);
    return undefined;
  });

  route(app, endpoints.getArchive, async (call) => {
    const agent = await entered(call);
    checkUse(call.request, call.caller, "file");
    const archive = await agent.files.readArchive(call.query);
    if (call.request.method === "GET") return archiveAnswer(archive, call.params.agent, call.query);
    await archive.cancel();
    return archiveAnswer(null, call.params.agent, call.query);
  });

  route(app, endpoints.putArchive, async (call) => {
    const agent = await entered(call);
    checkWhole(call.request);
    const zip = await readBytes(call.request, maxArchiveMb * 1024 * 1024, `This zip is larger than one may be: ${maxArchiveMb} MB.`);
    const order = { branch: call.query.branch, replace: call.query.replace !== undefined };
    return agent.files.writeArchive(loaded(zip), order, call.caller.user);
  });
}

/** What is sent is what is kept, all of it and as it is. */
function checkWhole({ headers }: Request): void {
  if (headers.has("content-range")) throw fail("bad_request", "A part of a file cannot be written; send all of it.");
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity") throw fail("unsupported_media", "Send the bytes as they are, without a content-encoding.");
}

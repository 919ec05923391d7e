import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import { toTransfer } from "../../objects/transfer.ts";
import { readBytes } from "../body.ts";
import { requireAgent } from "../directory.ts";
import { checkFetchDestination } from "../fetch-destination.ts";
import { deleteFile, editFiles, putFile, readFile } from "../files/handlers.ts";
import { checkWholeBody } from "../files/request.ts";
import { toArchiveResponse } from "../files/response.ts";
import { type HonoEnv, route } from "../route.ts";

/** Archives are unpacked in memory, which all agents share. */
const maxArchiveMb = 64;

/** The files of an agent's workspace. */
export function addFileRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listFiles, async (call) => (await requireAgent(call)).files.list(call.query));

  route(app, endpoints.editFiles, async (call) =>
    editFiles((await requireAgent(call)).files, call, call.body, call.query),
  );

  route(app, endpoints.readFile, async (call) => readFile((await requireAgent(call)).files, call, call.query));

  route(app, endpoints.putFile, async (call) => putFile((await requireAgent(call)).files, call, call.query));

  route(app, endpoints.deleteFile, async (call) => deleteFile((await requireAgent(call)).files, call, call.query));

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

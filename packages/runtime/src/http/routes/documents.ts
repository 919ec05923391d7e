import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Env } from "../../objects/env.ts";
import { enterAgency } from "../directory.ts";
import { deleteFile, editFiles, putFile, readFile, revertFiles } from "../files/handlers.ts";
import { type HonoEnv, route } from "../route.ts";

interface AgencyCall {
  env: Env;
  caller: { user: string };
  params: { agency: string };
}

const open = async ({ env, caller, params }: AgencyCall) =>
  (await enterAgency(env, caller.user, params.agency)).documents;

/** The documents of an agency, and their versions. Editors open them live, see `addSocketRoutes`. */
export function addDocumentRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listDocuments, async (call) => (await open(call)).list(call.query));

  route(app, endpoints.editDocuments, async (call) => editFiles(await open(call), call, call.body));

  route(app, endpoints.readDocument, async (call) => readFile(await open(call), call, call.query));

  route(app, endpoints.putDocument, async (call) => putFile(await open(call), call));

  route(app, endpoints.deleteDocument, async (call) => deleteFile(await open(call), call, call.query));

  route(app, endpoints.listDocumentVersions, async (call) => (await open(call)).listVersions(call.query));

  route(app, endpoints.getDocumentVersion, async (call) =>
    (await open(call)).diff(Number(call.params.version), call.query.path),
  );

  route(app, endpoints.revertDocuments, async (call) => revertFiles(await open(call), call, call.body));
}

import type { BodyIn, Endpoints, QueryIn, ResponseOf } from "@thinkery/sdk";
import { buildAgentUrl, getRootAgent } from "./agent-path.ts";
import { call } from "./host.ts";

/** Identifies an agent's files, on main unless a branch is given. Without an agent: the documents of an agency. */
export interface Workspace {
  agency: string;
  agent?: string | undefined;
  branch?: string | undefined;
}

type Query<Name extends "listFiles" | "listVersions"> = Omit<NonNullable<QueryIn<Endpoints[Name]>>, "branch">;
type Body<Name extends "editFiles" | "revert"> = BodyIn<Endpoints[Name]>;
type Response<Name extends keyof Endpoints> = Promise<ResponseOf<Endpoints[Name]>>;

/** What can be done with agents' files and with documents alike. */
interface WorkspaceCalls {
  list(query: Query<"listFiles">): Response<"listFiles">;
  edit(body: Body<"editFiles">): Response<"editFiles">;
  remove(path: string, recursive: boolean): Promise<void>;
  listVersions(query: Query<"listVersions">): Response<"listVersions">;
  getVersion(id: number, path: string | undefined): Response<"getVersion">;
  revert(body: Body<"revert">): Response<"revert">;
}

export function getWorkspaceCalls({ agency, agent, branch }: Workspace): WorkspaceCalls {
  return agent === undefined ? createDocumentCalls({ agency }) : createFileCalls({ agency, agent }, branch);
}

function createFileCalls(params: { agency: string; agent: string }, branch: string | undefined): WorkspaceCalls {
  const at = branch === undefined ? {} : { branch };
  return {
    list: (query) => call("listFiles", { params, query: { ...at, ...query } }),
    edit: (body) => call("editFiles", { params, query: at, body }),
    remove: (path, recursive) =>
      call("deleteFile", { params: { ...params, path }, query: { ...at, ...toFlag(recursive) } }),
    listVersions: (query) => call("listVersions", { params, query: { ...at, ...query } }),
    getVersion: (id, path) =>
      call("getVersion", { params: { ...params, version: String(id) }, query: path === undefined ? {} : { path } }),
    revert: (body) => call("revert", { params, body: { ...body, ...at } }),
  };
}

/** Documents have no branches. */
function createDocumentCalls(params: { agency: string }): WorkspaceCalls {
  return {
    list: (query) => call("listDocuments", { params, query }),
    edit: (body) => call("editDocuments", { params, body }),
    remove: (path, recursive) => call("deleteDocument", { params: { ...params, path }, query: toFlag(recursive) }),
    listVersions: (query) => call("listDocumentVersions", { params, query }),
    getVersion: (id, path) =>
      call("getDocumentVersion", {
        params: { ...params, version: String(id) },
        query: path === undefined ? {} : { path },
      }),
    revert: (body) => call("revertDocuments", { params, body }),
  };
}

const toFlag = (recursive: boolean) => (recursive ? { recursive: "1" as const } : {});

/** Tells workspaces apart, whatever branch is shown. */
export function getWorkspaceKey({ agency, agent }: Workspace): string {
  return `${agency}~${agent ?? ""}`;
}

/** URL of the endpoints that `call` cannot use. Sub-agents work on the files of their root agent. */
export function buildWorkspaceUrl({ agency, agent }: Workspace): string {
  return agent === undefined ? `/agency/${encodeURIComponent(agency)}` : buildAgentUrl(agency, getRootAgent(agent));
}

/** The same for single files or documents. */
export function buildContentsUrl(workspace: Workspace): string {
  return `${buildWorkspaceUrl(workspace)}/${workspace.agent === undefined ? "documents" : "files"}`;
}

import type { CommitResult } from "@thinkery/sdk";
import { defaultWorkspaceLimits } from "@thinkery/sdk/internal";
import { DurableObject } from "cloudflare:workers";
import { completeWork } from "../../packages/runtime/src/host/fair-work.ts";
import { WorkspaceApi } from "../../packages/runtime/src/objects/workspace-api.ts";
import type { Blobs } from "../../packages/runtime/src/store/blobs/blobs.ts";
import { openCountedBlobs } from "../../packages/runtime/src/store/blobs/counted.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { thinkSchema } from "../../packages/runtime/src/store/schema/think.ts";
import { LocalWorkspace } from "../../packages/runtime/src/workspace/local-workspace.ts";
import { RemoteWorkspace } from "../../packages/runtime/src/workspace/remote-workspace.ts";
import type { WorkspacePort } from "../../packages/runtime/src/workspace/workspace-port.ts";
import { Workspace } from "../../packages/runtime/src/workspace/workspace.ts";

interface Env {
  Owner: DurableObjectNamespace<Owner>;
  Client: DurableObjectNamespace<Client>;
  BLOBS: Fetcher;
}

/** Larger text is stored as a blob. */
const limits = { ...defaultWorkspaceLimits, maxTextFileKb: 8, maxFileMb: 1 };

const openTestBlobs = (env: Env) =>
  openCountedBlobs({
    env,
    owner: { key: "", object: "" },
    maxBytes: 0,
    checkGrowth: async () => {},
    review: async () => {},
  });

interface PortRequest {
  call: string;
  input: unknown[];
}

/** The object that stores the files, like an agent's object. */
export class Owner extends DurableObject<Env> {
  readonly #workspace: Workspace;
  readonly #port: LocalWorkspace;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrate(ctx.storage, thinkSchema);
    this.#workspace = new Workspace({ storage: ctx.storage, blobs: openTestBlobs(env), limits, record() {} });
    this.#port = new LocalWorkspace(this.#workspace);
  }

  get workspace(): WorkspaceApi {
    return new WorkspaceApi(async () => this.#port);
  }

  override async fetch(request: Request): Promise<Response> {
    const portRequest = (await request.json()) as PortRequest;
    // Not part of the port: for setup and inspection by tests.
    const testCalls: Record<string, (...input: never[]) => unknown> = {
      branchAsUser: (order: never) => completeWork(this.#workspace.planBranch(order, { kind: "user", user: "owner" })),
      versions: () => this.#workspace.listVersions({ limit: 10_000 }).versions.map(({ id }) => id),
      contentAt: (path: string, version: number) => this.#workspace.getContent(path, { version }),
      merges: () => this.#workspace.listVersions({ limit: 10_000 }).versions.flatMap(({ merges }) => merges ?? []),
      keys: () => this.ctx.storage.sql.exec("SELECT id, key FROM versions ORDER BY id").toArray(),
    };
    const { call, input } = portRequest;
    return respond(async () =>
      testCalls[call] ? testCalls[call](...(input as never[])) : callPort(this.#port, portRequest),
    );
  }
}

/** Another object that works on the owner's files. */
export class Client extends DurableObject<Env> {
  override async fetch(request: Request): Promise<Response> {
    const [, , owner = ""] = new URL(request.url).pathname.split("/");
    const blobs: Blobs = openTestBlobs(this.env);
    const connect = () => this.env.Owner.getByName(owner).workspace as unknown as WorkspaceApi;
    const port = new RemoteWorkspace({ connect, blobs, limits });
    const portRequest = (await request.json()) as PortRequest;
    return respond(() => callPort(port, portRequest));
  }
}

function callPort(port: WorkspacePort, { call, input }: PortRequest): Promise<unknown> {
  if (call === "append") return append(port, ...(input as [path: string, line: string, key: string]));
  if (call === "readText") return readText(port, input[0] as string);
  const method = port[call as "list"] as (...input: unknown[]) => Promise<unknown>;
  return method.apply(port, input);
}

async function readText(port: WorkspacePort, path: string): Promise<string | undefined> {
  const found = await port.read(path);
  return found && new TextDecoder().decode(await port.readBytes(found.content, path));
}

/** Reads a file and commits it with one more line, only if it is unchanged since. */
async function append(port: WorkspacePort, path: string, line: string, key: string): Promise<CommitResult> {
  const found = await port.read(path);
  const before = found ? new TextDecoder().decode(await port.readBytes(found.content, path)) : "";
  const content = await port.store(before + line, path);
  const expected = { [path]: found?.file.hash ?? null };
  return port.commit({ edits: [{ write: path, content }], origin: { kind: "agent", agent: "client" }, expected, key });
}

async function respond(work: () => Promise<unknown>): Promise<Response> {
  try {
    const value = await work();
    return new Response(
      JSON.stringify({ value }, (_, inner) => (inner instanceof Uint8Array ? { bytes: [...inner] } : inner)),
    );
  } catch (error) {
    return Response.json(
      { errorCode: (error as { code?: string }).code ?? "threw", message: (error as Error).message },
      { status: 400 },
    );
  }
}

export default {
  fetch(request: Request, env: Env): Promise<Response> | Response {
    if (request.method === "GET") return new Response("alive");
    const [, kind, owner = "", client = ""] = new URL(request.url).pathname.split("/");
    return kind === "local"
      ? env.Owner.getByName(owner).fetch(request)
      : env.Client.getByName(`${owner}-${client}`).fetch(request);
  },
};

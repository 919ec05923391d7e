import { createHash } from "node:crypto";
import { request } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { FileContent, FileEdit, CommitResponse, Overlap } from "@thinkery/sdk";
import { linuxLimitsSchema } from "@thinkery/sdk/internal";
import { onTestFinished } from "vitest";
import { type Home, openHome } from "../../packages/daemon/src/home/home.ts";
import { createTempFolder } from "../../packages/daemon/src/host/fixture.ts";
import { createBubblewrapProvider } from "../../packages/daemon/src/host/linux/bubblewrap.ts";
import { LinuxSandbox } from "../../packages/daemon/src/host/linux/linux.ts";
import { createLinuxRoutes } from "../../packages/daemon/src/host/linux/routes.ts";
import { serveRoutes } from "../../packages/daemon/src/host/serve.ts";
import { type LinuxFiles, attachFiles } from "../../packages/runtime/src/sandbox/linux-files.ts";
import { type AgentLinux, openLinux } from "../../packages/runtime/src/sandbox/linux.ts";

/** An in-memory workspace that keeps all versions. Conflicting changes to a file are kept as a second file. */
export class Workspace implements LinuxFiles {
  readonly versions: Map<string, Buffer>[] = [new Map()];
  readonly blobs = new Map<string, Buffer>();
  maxFileBytes = 32 * 1024 * 1024;

  getVersion(): number {
    return this.versions.length - 1;
  }

  listFiles() {
    return [...this.now].map(([path, bytes]) => ({ path, hash: computeHash(bytes) }));
  }

  async readContent(path: string): Promise<Uint8Array | undefined> {
    return this.now.get(path);
  }

  store(content: Uint8Array): FileContent {
    const hash = computeHash(content);
    this.blobs.set(hash, Buffer.from(content));
    return { blob: hash, size: content.length, mediaType: "" };
  }

  rebaseEdits(edits: readonly FileEdit[], base: number): CommitResponse {
    const next = new Map(this.now);
    const overlaps: Overlap[] = [];
    for (const edit of edits) {
      const path = getPath(edit);
      const theirs = "write" in edit ? this.blobs.get((edit.content as { blob: string }).blob) : undefined;
      const [before, mine] = [this.versions[base]?.get(path), this.now.get(path)];
      if (isSame(mine, theirs)) continue;
      if (isSame(before, mine)) put(next, path, theirs);
      else {
        const conflictCopy = findFreePath(
          `${path}.theirs`,
          (candidate) => next.has(candidate) || edits.some((other) => getPath(other) === candidate),
        );
        if (theirs) next.set(conflictCopy, theirs);
        overlaps.push({ path, conflictCopy, reason: "Both have changed it." });
      }
    }
    const id = this.commit(next);
    return {
      overlaps,
      ...(id === undefined
        ? {}
        : {
            version: {
              id,
              at: "",
              origin: { kind: "agent" },
              changes: edits.map((edit) => ({ path: "write" in edit ? edit.write : "", kind: "edit" })),
            },
          }),
    };
  }

  /** Commits changes made by somebody else. */
  write(files: Record<string, string | Buffer | undefined>): void {
    const next = new Map(this.now);
    for (const [path, content] of Object.entries(files))
      put(next, path, content === undefined ? undefined : Buffer.from(content));
    this.commit(next);
  }

  get now(): Map<string, Buffer> {
    return this.versions.at(-1) as Map<string, Buffer>;
  }

  /** All files, as text. */
  get texts(): Record<string, string> {
    return Object.fromEntries([...this.now].map(([path, bytes]): [string, string] => [path, bytes.toString()]).sort());
  }

  private commit(next: Map<string, Buffer>): number | undefined {
    if (next.size === this.now.size && [...next].every(([path, bytes]) => isSame(bytes, this.now.get(path))))
      return undefined;
    this.versions.push(next);
    return this.getVersion();
  }
}

interface LinuxFixture {
  home: Home;
  sandbox: LinuxSandbox;
  workspace: Workspace;
  linux: AgentLinux;
  /** Main's requests to the daemon: path and length of the body. */
  requests: { path: string; bytes: number }[];
  run(command: string, signal?: AbortSignal, onOutput?: (text: string) => void): ReturnType<AgentLinux["run"]>;
  /** `linux` with the workspace's files, as tools use it. */
  tool: ReturnType<typeof attachFiles>;
  /** Opens another daemon for the same home. */
  reopen(): Promise<LinuxFixture>;
}

export const agent = "global~alice";

/** Opens main's and the daemon's side of a Linux sandbox with a workspace, over a real socket. */
export async function openLinuxFixture({
  home: existingHome,
  workspace = new Workspace(),
  isFull = () => false,
}: { home?: Home; workspace?: Workspace; isFull?: () => boolean } = {}): Promise<LinuxFixture> {
  const home = existingHome ?? (await openHome({ THINKERY_HOME: join(createTempFolder(), "home") }));
  const sandbox = new LinuxSandbox({
    provider: createBubblewrapProvider({ home, onError() {} }),
    limits: linuxLimitsSchema.parse({}),
    isDiskFull: async () => isFull(),
  });
  const socketPath = join(createTempFolder(), "host.sock");
  const { close } = await serveRoutes(socketPath, createLinuxRoutes(sandbox));
  onTestFinished(async () => {
    await sandbox.close();
    await close();
  });
  const requests: LinuxFixture["requests"] = [];
  const HOST = {
    fetch: (input: unknown, init: RequestInit = {}) => sendRequest(socketPath, String(input), init, requests),
  };
  const linux = openLinux({ HOST: HOST as never }, agent);
  const tool = attachFiles(linux, workspace);
  const run: LinuxFixture["run"] = (command, signal = new AbortController().signal, onOutput = () => {}) =>
    tool.run(command, { signal, onOutput });
  return {
    home,
    sandbox,
    workspace,
    linux,
    requests,
    run,
    tool,
    reopen: () => openLinuxFixture({ home, workspace, isFull }),
  };
}

function sendRequest(
  socketPath: string,
  address: string,
  { method = "GET", body, signal }: RequestInit,
  requests: LinuxFixture["requests"],
): Promise<Response> {
  const { pathname, search } = new URL(address);
  requests.push({
    path: pathname,
    bytes: typeof body === "string" ? body.length : ((body as Uint8Array | undefined)?.length ?? 0),
  });
  return new Promise((resolve, reject) => {
    const options = { socketPath, method, path: pathname + search, ...(signal ? { signal } : {}) };
    const clientRequest = request(options, (response) => {
      resolve(new Response(Readable.toWeb(response) as ReadableStream, { status: response.statusCode ?? 0 }));
    });
    clientRequest.on("error", reject);
    clientRequest.end(body as string | Uint8Array | undefined);
  });
}

function getPath(edit: FileEdit): string {
  if ("move" in edit) throw new Error("moves are not supported");
  return "write" in edit ? edit.write : edit.delete;
}

function findFreePath(path: string, isTaken: (path: string) => boolean): string {
  return isTaken(path) ? findFreePath(`${path}+`, isTaken) : path;
}

function put(files: Map<string, Buffer>, path: string, bytes: Buffer | undefined): void {
  if (bytes) files.set(path, bytes);
  else files.delete(path);
}

function isSame(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}

function computeHash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

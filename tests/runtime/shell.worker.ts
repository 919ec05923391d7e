import { ToolError } from "@thinkery/sdk";
import { initialShellState, shellLimits } from "../../packages/runtime/src/sandbox/command.ts";
import { openSandbox, type SandboxEnv } from "../../packages/runtime/src/sandbox/open.ts";
import type { ViewFile } from "../../packages/runtime/src/sandbox/shell.ts";
import type { ShellRequest } from "./shell-request.ts";

const bytes = (base64: string) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

function toViewFile([path, content]: [string, NonNullable<ShellRequest["files"]>[string]]): ViewFile {
  if (typeof content === "string") return [path, content];
  return [
    path,
    "far" in content
      ? { size: content.far.length, ...(content.binary ? { binary: true } : {}) }
      : bytes(content.base64),
  ];
}

/** What each workspace remembers of its last view; here a request is a whole life of one. */
const sentVersions = new Map<string, number | undefined>();

/** Runs commands as main does, and tells what the sandbox asked for meanwhile. */
export default {
  async fetch(request: Request, env: SandboxEnv): Promise<Response> {
    if (request.method === "GET") return new Response("ready");
    const {
      agent = "global~ada",
      id = "w",
      version = 1,
      files = {},
      since = {},
      command = "true",
      state = initialShellState,
      rules = [],
      limits = {},
      timeoutMs = 20_000,
      network,
      search,
      code,
    } = await request.json<ShellRequest>();
    const asked: string[] = [];
    const source = {
      id,
      sentVersion: sentVersions.get(id),
      async view(base: number | undefined) {
        if (base === version) return { id, version, base, files: [], gone: [] };
        if (base !== undefined) asked.push(`since ${base}`);
        const change = base === undefined ? undefined : since[base];
        if (change && base !== undefined)
          return { id, version, base, files: Object.entries(change.files).map(toViewFile), gone: change.gone };
        asked.push("whole");
        return { id, version, files: Object.entries(files).map(toViewFile), gone: [] };
      },
      async read(path: string) {
        asked.push(`read ${path}`);
        const content = files[path];
        return typeof content === "object" && "far" in content ? content.far : undefined;
      },
    };
    const fetching = async (input: string) => {
      asked.push(`fetch ${input}`);
      const { url } = JSON.parse(input) as { url: string };
      if (url.includes("denied")) throw new Error("No rule of this agent allows fetch to do this.");
      if (url.includes("elsewhere"))
        return JSON.stringify({ status: 302, statusText: "Found", headers: { location: "https://other.org/there" } });
      if (url.includes("binary"))
        return JSON.stringify({ status: 200, statusText: "OK", headers: {}, bodyBase64: btoa("\xff\x00\x80") });
      return JSON.stringify({
        status: 200,
        statusText: "OK",
        headers: { "content-type": "text/plain" },
        body: "Grüße\n",
      });
    };
    const order = {
      command,
      files: source,
      state,
      rules,
      limits: { ...shellLimits, ...limits },
      ...(network ? { fetch: fetching } : {}),
    };
    const terms = { agent, timeoutMs, signal: AbortSignal.timeout(60_000), onPlace() {} };
    const sandbox = openSandbox(env);
    try {
      const answer = code
        ? await sandbox.run(
            { code, modules: {} },
            {
              ...terms,
              onConsole() {},
              call: async (name, input, inside) => {
                if (name === "tools.bash")
                  return JSON.stringify(await inside.shell({ ...order, ...JSON.parse(input) }, timeoutMs));
                if (name === "tools.grep")
                  return JSON.stringify(await inside.search({ files: source, limit: 10, ...JSON.parse(input) }));
                throw new Error(`What is ${name}?`);
              },
            },
          )
        : search
          ? await sandbox.search({ ...search, files: source }, terms)
          : await sandbox.shell(order, terms);
      sentVersions.set(id, source.sentVersion);
      return new Response(
        JSON.stringify({ ...answer, version: undefined, asked }, (_, value) =>
          value instanceof Uint8Array ? { base64: btoa(String.fromCharCode(...value)) } : value,
        ),
      );
    } catch (error) {
      return Response.json({
        errorCode: error instanceof ToolError ? error.code : "other",
        message: (error as Error).message,
        asked,
      });
    }
  },
};

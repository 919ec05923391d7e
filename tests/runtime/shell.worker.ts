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

/** The version each workspace sent last. Kept here because each request creates its own workspace. */
const sentVersions = new Map<string, number | undefined>();

/** Runs commands as main does, and returns what the sandbox requested meanwhile. */
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
    const requests: string[] = [];
    const source = {
      id,
      sentVersion: sentVersions.get(id),
      async view(base: number | undefined) {
        if (base === version) return { id, version, base, files: [], gone: [] };
        if (base !== undefined) requests.push(`since ${base}`);
        const change = base === undefined ? undefined : since[base];
        if (change && base !== undefined)
          return { id, version, base, files: Object.entries(change.files).map(toViewFile), gone: change.gone };
        requests.push("whole");
        return { id, version, files: Object.entries(files).map(toViewFile), gone: [] };
      },
      async read(path: string) {
        requests.push(`read ${path}`);
        const content = files[path];
        return typeof content === "object" && "far" in content ? content.far : undefined;
      },
    };
    const fetchFromTest = async (input: string) => {
      requests.push(`fetch ${input}`);
      const { url } = JSON.parse(input) as { url: string };
      if (url.includes("denied")) throw new Error("No policy rule allows this call of fetch.");
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
    const shellOptions = {
      command,
      files: source,
      state,
      rules: { policy: rules, grants: [] },
      limits: { ...shellLimits, ...limits },
      ...(network ? { fetch: fetchFromTest } : {}),
    };
    const runOptions = { agent, timeoutMs, signal: AbortSignal.timeout(60_000), onPlace() {} };
    const sandbox = openSandbox(env);
    try {
      const result = code
        ? await sandbox.run(
            { code, modules: {} },
            {
              ...runOptions,
              onConsole() {},
              call: async (name, input, inside) => {
                if (name === "tools.bash")
                  return JSON.stringify(await inside.shell({ ...shellOptions, ...JSON.parse(input) }, timeoutMs));
                if (name === "tools.grep")
                  return JSON.stringify(await inside.search({ files: source, limit: 10, ...JSON.parse(input) }));
                throw new Error(`Unknown capability ${name}`);
              },
            },
          )
        : search
          ? await sandbox.search({ ...search, files: source }, runOptions)
          : await sandbox.shell(shellOptions, runOptions);
      sentVersions.set(id, source.sentVersion);
      return new Response(
        JSON.stringify({ ...result, version: undefined, requests }, (_, value) =>
          value instanceof Uint8Array ? { base64: btoa(String.fromCharCode(...value)) } : value,
        ),
      );
    } catch (error) {
      return Response.json({
        errorCode: error instanceof ToolError ? error.code : "other",
        message: (error as Error).message,
        requests,
      });
    }
  },
};

import { RpcTarget } from "cloudflare:workers";
import type { App, Job, RunHost, SandboxService } from "../../packages/runtime/src/sandbox/run.ts";

/** The capabilities a test gives to the code; records calls and console output. */
class Host extends RpcTarget implements RunHost {
  readonly calls: string[] = [];
  readonly output: string[] = [];

  async call(capability: string, input: string): Promise<string> {
    this.calls.push(`${capability} ${input}`);
    if (capability === "echo") return input;
    if (capability === "tools.fails") throw new Error("the disk is full");
    if (capability === "tools.nothing") return "";
    if (capability === "tools.slow") await scheduler.wait(150);
    if (capability === "fetch") return JSON.stringify(this.#respond(JSON.parse(input)));
    return JSON.stringify({ capability, input: JSON.parse(input) });
  }

  async writeConsole(text: string): Promise<void> {
    this.output.push(text);
  }

  #respond(request: { url: string }): object {
    if (request.url.includes("denied")) throw new Error("No rule allows this.");
    if (request.url.includes("binary"))
      return { status: 200, headers: { "content-type": "image/png" }, bodyBase64: btoa("\x89PNG") };
    if (request.url.includes("empty")) return { status: 204, headers: {} };
    return {
      status: 201,
      statusText: "Created",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
    };
  }
}

interface RunRequest {
  job?: Job;
  app?: App;
  path?: string;
  init?: { method?: string; body?: string };
}

/** `POST` a job or an app: returns its result, and what the sandbox reported to main meanwhile. */
export default {
  async fetch(request: Request, env: { SANDBOX: SandboxService }): Promise<Response> {
    if (request.method === "GET") return new Response("here");
    const { job, app, path = "/", init = {} } = await request.json<RunRequest>();
    const host = new Host();
    if (app) {
      const response = await env.SANDBOX.serve(app, new Request(`http://app${path}`, init), host);
      const headers = new Headers(response.headers);
      headers.set("x-output", JSON.stringify(host.output));
      return new Response(response.body, { status: response.status, headers });
    }
    if (!job) return new Response("No job or app", { status: 400 });
    const outcome = await env.SANDBOX.run(job, host);
    return Response.json({ outcome, calls: host.calls, output: host.output });
  },
};

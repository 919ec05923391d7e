import { RpcTarget } from "cloudflare:workers";
import type { App, Job, RunHost, SandboxService } from "../../packages/runtime/src/sandbox/run.ts";

/** What a test lets the code call, and what it heard. */
class Host extends RpcTarget implements RunHost {
  readonly calls: string[] = [];
  readonly heardTexts: string[] = [];

  async call(capability: string, input: string): Promise<string> {
    this.calls.push(`${capability} ${input}`);
    if (capability === "echo") return input;
    if (capability === "tools.fails") throw new Error("the disk is full");
    if (capability === "tools.nothing") return "";
    if (capability === "tools.slow") await scheduler.wait(150);
    if (capability === "fetch") return JSON.stringify(this.#answer(JSON.parse(input)));
    return JSON.stringify({ capability, input: JSON.parse(input) });
  }

  async heard(text: string): Promise<void> {
    this.heardTexts.push(text);
  }

  #answer(request: { url: string }): object {
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

/** `POST` with a job or an app: what came of it, and what main was told meanwhile. */
export default {
  async fetch(request: Request, env: { SANDBOX: SandboxService }): Promise<Response> {
    if (request.method === "GET") return new Response("here");
    const { job, app, path = "/", init = {} } = await request.json<RunRequest>();
    const host = new Host();
    if (app) {
      const answer = await env.SANDBOX.serve(app, new Request(`http://app${path}`, init), host);
      const headers = new Headers(answer.headers);
      headers.set("x-heard", JSON.stringify(host.heardTexts));
      return new Response(answer.body, { status: answer.status, headers });
    }
    if (!job) return new Response("What?", { status: 400 });
    const outcome = await env.SANDBOX.run(job, host);
    return Response.json({ outcome, calls: host.calls, heard: host.heardTexts });
  },
};

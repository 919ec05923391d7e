import type { AgentRoute } from "@thinkery/sdk/agent-host";
import { openAgentSandbox } from "../../packages/runtime/src/sandbox/agent-sandbox.ts";
import type { SandboxEnv } from "../../packages/runtime/src/sandbox/open.ts";

interface AgentTestRequest {
  code: string;
  sourceMap?: string;
  route?: AgentRoute;
  payload?: object;
  isolateId?: string;
  /** Interrupts it after this time. */
  interruptMs?: number;
}

/** `POST` code and a request: returns the outcome, and what reached main meanwhile. */
export default {
  async fetch(request: Request, env: SandboxEnv): Promise<Response> {
    if (request.method === "GET") return new Response("here");
    const {
      code,
      sourceMap,
      route = "message",
      payload = {},
      isolateId,
      interruptMs,
    } = await request.json<AgentTestRequest>();
    const calls: string[] = [];
    let reads = 0;
    let output = "";
    const interrupt = new AbortController();
    if (interruptMs !== undefined) setTimeout(() => interrupt.abort(new Error("stopped")), interruptMs);
    const sent = openAgentSandbox(env).send(
      { route, payload: JSON.stringify(payload), ...(isolateId === undefined ? {} : { isolateId }) },
      {
        owner: "owner",
        signal: interrupt.signal,
        readCode() {
          reads++;
          return { code, ...(sourceMap === undefined ? {} : { sourceMap }) };
        },
        async call(capability, input) {
          calls.push(`${capability} ${input}`);
          if (capability === "storage.get") return JSON.stringify({ value: JSON.parse(input).key });
          if (capability === "fetch") return JSON.stringify({ status: 200, body: `got ${JSON.parse(input).url}` });
          if (capability === "bash") throw new Error("not granted");
          return "";
        },
        onConsole: (text) => void (output += text),
      },
    );
    const outcome = await sent.catch((error: Error) => ({ rejected: error.message }));
    return Response.json({ outcome, calls, output, reads });
  },
};
